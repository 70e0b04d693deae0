/*
 * Highlights NIT in JupyterLab and Notebook: %%nit cells, <nit> blocks and .nit files.
 *
 * A federated module written by hand: JupyterLab calls init(sharedScope), then get('./extension').
 * Two things are easily got wrong, and each leaves all of JupyterLab blank: the module must say
 * `__esModule: true`, and nothing may throw while this file is read.
 *
 * Cells are coloured by decorations over whatever language the cell has, so that JupyterLab's own
 * Python support (indentation, completion) stays as it is.
 */
(function () {
  const NAME = 'nit-kernel-lab';
  let scope;

  /** The newest copy that JupyterLab shares of a package. */
  async function shared(name) {
    const versions = scope[name];
    if (!versions) {
      throw new Error(`${NAME}: this JupyterLab does not share ${name}`);
    }
    const newest = Object.keys(versions)
      .sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))
      .pop();
    return (await versions[newest].get())();
  }

  const WORDS = [
    [/^%%nit(?!\w).*/, 'meta'],
    [/^<\/?nit(-\w+)?>/, 'meta'],
    [/^#.*/, 'comment'],
    [/^\$[\p{L}\p{N}_]*/u, 'variableName.special'],
    [/^(async|true|false|null|True|False|None)(?![\p{L}\p{N}_])/u, 'keyword'],
    [/^[+-]?(0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][+-]?\d+)?)/, 'number'],
    [/^[\p{L}_][\p{L}\p{N}_.]*(?=\s*\()/u, 'variableName.function'],
    [/^[\p{L}_][\p{L}\p{N}_]*(?=\s*[=:])/u, 'propertyName'],
    [/^[\p{L}_][\p{L}\p{N}_]*/u, null]
  ];
  const OPENING = /^[rRfF]{0,2}("""|'''|"|')/;

  /** Read on in a string up to its closing quote; whether it was found on this line. */
  function closes(stream, quote) {
    while (!stream.eol()) {
      if (stream.match(quote)) {
        return true;
      }
      if (stream.next() === '\\') {
        stream.next();
      }
    }
    return false;
  }

  function token(stream, state) {
    if (state.quote) {
      if (closes(stream, state.quote)) {
        state.quote = '';
      }
      return 'string';
    }
    if (stream.eatSpace()) {
      return null;
    }
    const opening = stream.match(OPENING);
    if (opening) {
      // Only a triple quote goes on in the next line.
      if (!closes(stream, opening[1]) && opening[1].length === 3) {
        state.quote = opening[1];
      }
      return 'string';
    }
    for (const [pattern, style] of WORDS) {
      if (stream.match(pattern)) {
        return style;
      }
    }
    stream.next();
    return null;
  }

  const COLORS = {
    meta: 'meta',
    comment: 'comment',
    variableName2: 'variable-2',
    variableName: 'def',
    keyword: 'keyword',
    string: 'string',
    number: 'number',
    propertyName: 'property'
  };

  async function load() {
    const [codemirror, language, view, state, highlight] = await Promise.all(
      [
        '@jupyterlab/codemirror',
        '@codemirror/language',
        '@codemirror/view',
        '@codemirror/state',
        '@lezer/highlight'
      ].map(shared)
    );
    const nit = language.StreamLanguage.define({
      name: 'nit',
      startState: () => ({ quote: '' }),
      copyState: ({ quote }) => ({ quote }),
      languageData: { commentTokens: { line: '#' } },
      token
    });
    const IS_NIT = /^\ufeff?\s*(%%nit(?!\w)|<nit(-\w+)?>)/;

    const painter = view.ViewPlugin.fromClass(
      class {
        constructor(editor) {
          this.decorations = this.paint(editor);
        }

        update(change) {
          if (change.docChanged || change.viewportChanged) {
            this.decorations = this.paint(change.view);
          }
        }

        paint(editor) {
          const marks = new state.RangeSetBuilder();
          const text = editor.state.doc.toString();
          if (IS_NIT.test(text)) {
            const tree = nit.parser.parse(text);
            highlight.highlightTree(tree, highlight.classHighlighter, (from, to, classes) => {
              const own = classes.split(' ').map(one => 'nit-' + one).join(' ');
              marks.add(from, to, view.Decoration.mark({ class: 'nit-tok ' + own }));
            });
          }
          return marks.finish();
        }
      },
      { decorations: plugin => plugin.decorations }
    );

    const css = Object.entries(COLORS)
      .map(
        ([kind, color]) =>
          `.nit-tok-${kind},.nit-tok-${kind} *{color:var(--jp-mirror-editor-${color}-color)!important}`
      )
      .join('');

    return {
      __esModule: true,
      default: {
        id: `${NAME}:plugin`,
        autoStart: true,
        description: 'Highlights NIT.',
        requires: [codemirror.IEditorLanguageRegistry, codemirror.IEditorExtensionRegistry],
        activate(app, languages, extensions) {
          languages.addLanguage({
            name: 'nit',
            displayName: 'NIT',
            mime: 'text/x-nit',
            extensions: ['nit'],
            support: new language.LanguageSupport(nit)
          });
          extensions.addExtension(
            Object.freeze({
              name: 'nit-cells',
              factory: () =>
                codemirror.EditorExtensionRegistry.createImmutableExtension([painter])
            })
          );
          const style = document.createElement('style');
          style.textContent = css;
          document.head.appendChild(style);
        }
      }
    };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[NAME] = {
    init(sharedScope) {
      scope = sharedScope;
    },
    async get(module) {
      if (module !== './extension') {
        throw new Error(`${NAME}: there is no module ${module}`);
      }
      const loaded = await load();
      return () => loaded;
    }
  };
})();
