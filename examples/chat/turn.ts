/** The conversation as the room's store `turns` has it. */
import type { UIMessage } from "ai";

/** A question, and the name of the stream with its answer. Keys of the store are in the order of time. */
export interface Turn {
  readonly question: UIMessage;
  readonly answer: string;
}

export const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
