/** The editor of the minutes: headings, lists, bold and italic text, and the carets of the others. */

import { baseKeymap, setBlockType, toggleMark } from "@tiptap/pm/commands";
import { inputRules, textblockTypeInputRule, wrappingInputRule } from "@tiptap/pm/inputrules";
import { keymap } from "@tiptap/pm/keymap";
import { type MarkType, type NodeType, Schema } from "@tiptap/pm/model";
import { liftListItem, splitListItem, wrapInList } from "@tiptap/pm/schema-list";
import { type Command, EditorState } from "@tiptap/pm/state";
import { EditorView } from "@tiptap/pm/view";
import { redo, undo, yCursorPlugin, ySyncPlugin, yUndoPlugin } from "@tiptap/y-tiptap";
import type { Awareness } from "y-protocols/awareness";
import type * as Y from "yjs";

const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"];
const schema = new Schema({
  nodes: {
    doc: { content: "block+" },
    paragraph: {
      group: "block",
      content: "text*",
      parseDOM: [{ tag: "p" }],
      toDOM: () => ["p", 0],
    },
    heading: {
      group: "block",
      content: "text*",
      defining: true,
      parseDOM: HEADINGS.map((tag) => ({ tag })),
      toDOM: () => ["h3", 0],
    },
    bulletList: {
      group: "block",
      content: "listItem+",
      parseDOM: [{ tag: "ul" }],
      toDOM: () => ["ul", 0],
    },
    orderedList: {
      group: "block",
      content: "listItem+",
      parseDOM: [{ tag: "ol" }],
      toDOM: () => ["ol", 0],
    },
    listItem: {
      content: "paragraph block*",
      defining: true,
      parseDOM: [{ tag: "li" }],
      toDOM: () => ["li", 0],
    },
    text: {},
  },
  marks: {
    bold: { parseDOM: [{ tag: "strong" }, { tag: "b" }], toDOM: () => ["strong", 0] },
    italic: { parseDOM: [{ tag: "em" }, { tag: "i" }], toDOM: () => ["em", 0] },
  },
});
const { paragraph, heading, bulletList, orderedList, listItem } = schema.nodes;
const { bold, italic } = schema.marks;

interface Action {
  readonly label: string;
  /** The lines of its icon in a square of 20 units. */
  readonly icon: string;
  readonly command: Command;
  /** Whether the selection has it already. */
  isOn(state: EditorState): boolean;
}

const isMarked =
  (type: MarkType) =>
  ({ doc, selection: { from, to, empty, $from }, storedMarks }: EditorState): boolean =>
    empty ? type.isInSet(storedMarks ?? $from.marks()) !== undefined : doc.rangeHasMark(from, to, type);

/** The depth of the closest ancestor of these types; 0 for none. */
function depthOf({ selection: { $from } }: EditorState, types: readonly NodeType[]): number {
  let { depth } = $from;
  while (depth > 0 && !types.includes($from.node(depth).type)) depth -= 1;
  return depth;
}

/** Makes paragraphs a list, a list of the other kind one of this kind, and a list of this kind paragraphs. */
const toggleList =
  (type: NodeType): Command =>
  (state, dispatch) => {
    const depth = depthOf(state, [bulletList, orderedList]);
    if (depth === 0) return wrapInList(type)(state, dispatch);
    const { $from } = state.selection;
    if ($from.node(depth).type === type) return liftListItem(listItem)(state, dispatch);
    dispatch?.(state.tr.setNodeMarkup($from.before(depth), type));
    return true;
  };

const isList = (type: NodeType) => (state: EditorState) => {
  const depth = depthOf(state, [bulletList, orderedList]);
  return depth > 0 && state.selection.$from.node(depth).type === type;
};

const isHeading = (state: EditorState): boolean => depthOf(state, [heading]) > 0;

export const ACTIONS: readonly Action[] = [
  {
    label: "Heading",
    icon: "M5 4v12M15 4v12M5 10h10",
    command: (state, dispatch) => setBlockType(isHeading(state) ? paragraph : heading)(state, dispatch),
    isOn: isHeading,
  },
  {
    label: "Bold",
    icon: "M6 4h5a3 3 0 0 1 0 6H6zM6 10h6a3 3 0 0 1 0 6H6z",
    command: toggleMark(bold),
    isOn: isMarked(bold),
  },
  { label: "Italic", icon: "M8 4h7M5 16h7M12 4L8 16", command: toggleMark(italic), isOn: isMarked(italic) },
  {
    label: "Bulleted list",
    icon: "M8 5h9M8 10h9M8 15h9M3.5 5h.5M3.5 10h.5M3.5 15h.5",
    command: toggleList(bulletList),
    isOn: isList(bulletList),
  },
  {
    label: "Numbered list",
    icon: "M8 5h9M8 10h9M8 15h9M3 4l1-.5v3M3 13.5h1.5L3 16.5h1.5",
    command: toggleList(orderedList),
    isOn: isList(orderedList),
  },
];

interface Person {
  readonly name: string;
  readonly color: string;
}

/** Anyone can write anything into the awareness, and into presence. */
export function readPerson(user: Readonly<Record<string, unknown>> | null): Person {
  const { name, color } = Object(user);
  return {
    name: typeof name === "string" ? name.slice(0, 60) : "Someone",
    color: typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color) ? color : "#475569",
  };
}

/** The names of all whose carets are in the text, the own one first. */
export function namesOfWriters(awareness: Awareness): readonly string[] {
  const own = awareness.getLocalState();
  const others = [...awareness.getStates().values()].filter((state) => state !== own);
  return [own, ...others].flatMap((state) => (state?.cursor ? [readPerson(state.user).name] : []));
}

function caretOf(user: Readonly<Record<string, unknown>>): HTMLElement {
  const { name, color } = readPerson(user);
  const [caret, label] = [document.createElement("span"), document.createElement("span")];
  caret.className = "caret";
  caret.style.color = color;
  label.textContent = name;
  caret.appendChild(label);
  return caret;
}

interface EditorOptions {
  readonly fragment: Y.XmlFragment;
  readonly awareness: Awareness;
  /** Whether this user may write; asked again with each state. */
  isEditable(): boolean;
  /** Called with each state, of which the toolbar shows what is on. */
  changed(state: EditorState): void;
  /** This user has written, or left the text. */
  typed(): void;
  left(): void;
}

/** Opens the editor in an element; `destroy()` ends it. */
export function openEditor(parent: HTMLElement, options: EditorOptions): EditorView {
  const { fragment, awareness, isEditable, changed, typed, left } = options;
  const keys: Record<string, Command> = {
    "Mod-b": toggleMark(bold),
    "Mod-i": toggleMark(italic),
    "Mod-z": undo,
    "Mod-y": redo,
    "Mod-Shift-z": redo,
    Enter: splitListItem(listItem),
  };
  const rules = [
    textblockTypeInputRule(/^#{1,6}\s$/, heading),
    wrappingInputRule(/^\s*[-*]\s$/, bulletList),
    wrappingInputRule(/^\s*1\.\s$/, orderedList),
  ];
  const plugins = [
    ySyncPlugin(fragment),
    yCursorPlugin(awareness, {
      cursorBuilder: caretOf,
      selectionBuilder: (user) => ({ style: `background-color: ${readPerson(user).color}40` }),
    }),
    yUndoPlugin(),
    inputRules({ rules }),
    keymap(keys),
    keymap(baseKeymap),
  ];
  const view = new EditorView(parent, {
    state: EditorState.create({ schema, plugins }),
    editable: isEditable,
    attributes: { role: "textbox", "aria-multiline": "true", "aria-label": "Minutes" },
    handleDOMEvents: { input: typed, blur: left },
    // The first one comes while the view is still being created, and the last ones after its end.
    dispatchTransaction(this: EditorView, transaction) {
      if (this.isDestroyed) return;
      this.updateState(this.state.apply(transaction));
      changed(this.state);
    },
  });
  changed(view.state);
  return view;
}
