"""Models and servers for tests: scripted replies, without a network or over real HTTP.

```python
from nit_kernel.testing import FakeModel, Script, openai_server

model = FakeModel([["Adding. ", Script("$x = add(a=1, b=2)")], "It is 3."])
chat = nit.Chat(client=model, session=session)

with openai_server(model) as server:  # the same over HTTP
    chat = nit.Chat(model="fake-model", base_url=server.base_url, session=session)
```
"""

from nit_kernel.testing.fake_model import FakeModel
from nit_kernel.testing.parts import (
    Call,
    Disconnect,
    Pause,
    RawDelta,
    Refuse,
    Reply,
    Script,
    Think,
    Wait,
)
from nit_kernel.testing.recorded import RecordedRequest
from nit_kernel.testing.server import OpenAIServer, openai_server

__all__ = [
    "Call",
    "Disconnect",
    "FakeModel",
    "OpenAIServer",
    "Pause",
    "RawDelta",
    "RecordedRequest",
    "Refuse",
    "Reply",
    "Script",
    "Think",
    "Wait",
    "openai_server",
]
