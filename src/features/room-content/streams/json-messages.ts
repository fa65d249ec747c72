/** The messages of a JSON body. */
import { MESSAGE_END, StreamRefused } from "../../../room/types/streams.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const encoder = new TextEncoder();
/** The blanks of JSON at both ends. */
const BLANKS = /^[ \t\n\r]+|[ \t\n\r]+$/g;
const END = String.fromCharCode(MESSAGE_END);

/** A value, or the items of an array, as they are written, each with a {@link MESSAGE_END}. BAD_REQUEST for anything else. */
export function messagesOf(body: Uint8Array): Uint8Array {
  const [text, value] = parse(body);
  const messages = Array.isArray(value) ? itemsOf(text) : [text];
  return encoder.encode(messages.map((message) => message.replace(BLANKS, "") + END).join(""));
}

function parse(body: Uint8Array): [string, unknown] {
  try {
    const text = decoder.decode(body);
    return [text.replace(BLANKS, ""), JSON.parse(text)];
  } catch {
    throw new StreamRefused("BAD_REQUEST", "The body must be JSON in UTF-8");
  }
}

/** The texts between the commas of an array that is known to be valid. */
function itemsOf(array: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 1;
  for (let at = 0; at < array.length; at += 1) {
    const character = array[at];
    if (character === '"') at = endOfString(array, at);
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    else if (character === "," && depth === 1) {
      items.push(array.slice(from, at));
      from = at + 1;
    }
  }
  const last = array.slice(from, -1);
  return last.replace(BLANKS, "") === "" ? items : [...items, last];
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
