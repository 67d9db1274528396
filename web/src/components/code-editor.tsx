import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { liquid } from "@codemirror/lang-liquid";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

/** Something to mark in the code; line and column count from 1. */
export interface CodeFault {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

interface CodeEditorProps {
  readonly label: string;
  readonly initial: string;
  readonly faults: readonly CodeFault[];
  onChange(text: string): void;
}

/**
 * An editor for HTML with Liquid. It is in a shadow root, because there CodeMirror writes its styles as
 * constructed style sheets: in the document it would write <style>, which the Content-Security-Policy refuses.
 */
export function CodeEditor({ label, initial, faults, onChange }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef({ label, initial });
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.initial,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          highlightActiveLine(),
          lintGutter(),
          EditorView.lineWrapping,
          liquid({ base: html() }),
          syntaxHighlighting(COLOURS),
          LOOK,
          // Tab moves on, as everywhere: the editor is no trap for the keyboard.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          // The tabindex tells tools that the code can be scrolled with the keyboard.
          EditorView.contentAttributes.of({ "aria-label": first.current.label, tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        faults.map((fault) => diagnosticOf(doc, fault)),
      ),
    );
  }, [faults]);
  return <div ref={host} className="editor" />;
}

function diagnosticOf(doc: Text, { severity, message, line = 1, column }: CodeFault): Diagnostic {
  const place = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(place.from + (column === undefined ? 0 : column - 1), place.to);
  return { severity, message, from, to: place.to };
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.controlKeyword], color: "var(--json-key)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--json-text)" },
  { tag: [tags.number, tags.attributeName, tags.variableName], color: "var(--json-number)" },
  { tag: tags.comment, color: "var(--mantine-color-dimmed)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", color: "var(--mantine-color-text)" },
  "&.cm-focused": { outline: "2px solid var(--mantine-color-blue-5)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface-sunken)",
    color: "var(--mantine-color-dimmed)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "var(--info-surface)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--mantine-color-text)",
    border: "1px solid var(--mantine-color-default-border)",
  },
});
