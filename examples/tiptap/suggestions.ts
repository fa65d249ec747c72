/** The button that suggests changes, and the panel in which they are reviewed. */
import type { AtriumClient } from "atrium/client";
import type { DocumentSuggestions, SuggestedPart, Suggestion } from "atrium/documents";
import { find, say } from "./page.ts";

interface Page {
  /** The title of this person's suggestions. */
  readonly title: string;
  /** Whether all that was written is saved. */
  isSaved(): boolean;
  /** Shows the editor of a suggestion's fork, or of the document itself. */
  show(fork: string | null): void;
}

const isPending = ({ status }: Suggestion) => status === "pending";

export async function showSuggestions(
  client: AtriumClient,
  suggestions: DocumentSuggestions,
  page: Page,
): Promise<void> {
  /** The fork that the editor shows. */
  let own: string | null = null;
  const button = find("#suggest");
  button.hidden = !client.canWrite("documents") && !client.permissions.includes("documents:suggest");
  const show = (fork: string | null) => {
    own = fork;
    button.textContent = fork === null ? "Suggest changes" : "Done";
    page.show(fork);
  };
  button.onclick = () =>
    attempt(async () => {
      if (!page.isSaved()) throw new Error("Not all changes are saved yet");
      show(own === null ? (await suggestions.create({ title: page.title })).fork : null);
    });

  /** What is listed, by ID, with functions that take it out. */
  const items = new Map<string, () => void>();
  const update = () => {
    const pending = suggestions.list.filter(isPending);
    for (const [id, remove] of items) if (!pending.some((each) => each.id === id)) remove();
    for (const suggestion of pending)
      if (!items.has(suggestion.id)) {
        const remove = addItem(client, suggestions, suggestion);
        items.set(suggestion.id, () => {
          items.delete(suggestion.id);
          remove();
        });
      }
    if (own !== null && !pending.some(({ fork }) => fork === own)) show(null); // it was reviewed
  };
  suggestions.on("changed", update);
  await suggestions.load();
}

/** Lists a suggestion, and keeps its parts current. The result removes it. */
function addItem(client: AtriumClient, suggestions: DocumentSuggestions, suggestion: Suggestion): () => void {
  const { id, title, author } = suggestion;
  const mayReview = client.canWrite("documents");
  const parts = element("ul");
  const boxes = (selector: string) =>
    [...parts.querySelectorAll<HTMLInputElement>(selector)].map(({ value }) => value);
  let seq = 0;
  const read = () =>
    attempt(async () => {
      const found = await suggestions.read(id);
      const left = boxes("input:not(:checked)");
      seq = found.seq;
      parts.replaceChildren(...found.parts.map((part) => itemOf(part, mayReview, !left.includes(part.id))));
    });
  /** Refused if the author has written since, or the text is gone. */
  const review = async (accept: readonly string[]) => {
    if (!(await attempt(() => suggestions.review(id, { seq, accept })))) await read();
  };
  const buttons = [
    ...(mayReview
      ? [
          buttonOf("Accept selected", () => review(boxes("input:checked"))),
          buttonOf("Reject", () => review([])),
        ]
      : []),
    ...(author.id === client.userId
      ? [buttonOf("Withdraw", () => attempt(() => suggestions.withdraw(id)))]
      : []),
  ];
  const item = element("li", element("h2", title ?? "Suggestion"), parts, ...buttons);
  find("#suggestions").append(item);
  const unwatch = suggestions.watch(suggestion, () => void read());
  return () => {
    unwatch();
    item.remove();
  };
}

/** A change with its context, and a box to select it. */
function itemOf(part: SuggestedPart, mayReview: boolean, isSelected: boolean): HTMLElement {
  const { id, state, before, after, context } = part;
  const box = element("input");
  Object.assign(box, {
    type: "checkbox",
    value: id,
    checked: isSelected && state !== "stale",
    disabled: state === "stale",
  });
  const texts = [context.before, textOf("del", before), textOf("ins", after), context.after];
  const note = state === "stale" ? [" (the text is gone)"] : [];
  return element("li", element("label", ...(mayReview ? [box] : []), element("span", ...texts, ...note)));
}

/** Text of the document, with spaces for the tags of its XML. */
const textOf = (tag: "del" | "ins", xml: string | null) =>
  xml === null ? "" : element(tag, xml.replaceAll(/(<[^<>]*>)+/g, " "));

function buttonOf(name: string, act: () => Promise<unknown>): HTMLElement {
  const button = element("button", name);
  button.type = "button";
  button.onclick = act;
  return button;
}

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  created.append(...children);
  return created;
}

/** Whether it succeeded; otherwise says why not. */
async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return false;
  }
}
