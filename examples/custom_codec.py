"""A codec of one's own: a private syntax `<<tool:NAME {"key": "value"}>>`.

Everything else stays as it is: tools, session, history, permission, repair. Run this file to see
that it keeps the promises of the interface.
"""

import json
import re

import nit_kernel as nit
from nit_kernel.model.codecs.history import rewritten

CALL = re.compile(r"<<tool:([\w.-]+) (\{.*?\})>>(?=\s|\Z)", re.DOTALL)


class AngleCodec:
    streaming = "buffer"
    triggers = ("<<tool:",)

    def encode(self, request, tools):
        names = "\n".join(f"{tool.name}: {tool.description}" for tool in tools)
        form = f'To call a tool write <<tool:NAME {{"key": "value"}}>>. Tools:\n{names}'
        request = request.with_system(form)
        return request.with_messages(rewritten(request, self.exchange))

    def exchange(self, item):
        calls = [f"<<tool:{call.name} {json.dumps(call.arguments)}>>" for call in item.calls]
        results = [f"{call.name}: {call.outcome(4_000)}" for call in item.calls]
        yield {"role": "assistant", "content": "\n".join([item.text, *calls]).strip()}
        yield {"role": "user", "content": "\n".join(results)}

    def decode(self, message):
        text = message["content"] or ""
        try:
            calls = [nit.ToolCall("", name, json.loads(raw)) for name, raw in CALL.findall(text)]
        except ValueError as error:
            raise nit.CodecError(f"a call is not JSON: {error}", code="NIT601") from error
        rest = CALL.sub("", text)
        if "<<tool:" in rest:
            raise nit.CodecError("a call does not end", code="NIT601", hint="end it with >>")
        return nit.Decoded(text=rest.strip() if calls else rest, calls=calls)


if __name__ == "__main__":
    print("\n".join(nit.codec_conformance(AngleCodec())))
