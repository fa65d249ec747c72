/** The conversation as the room's store `turns` has it. */
import type { UIMessage } from "ai";

/** A question, and the name of the stream with its answer. Keys of the store are in the order of time. */
export interface Turn {
  readonly question: UIMessage;
  readonly answer: string;
}

/** The turns by time. */
export const inOrder = (turns: Readonly<Record<string, Turn>>): Turn[] =>
  Object.entries(turns)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, turn]) => turn);

/** The messages in the order of the turns, each answer behind its question. A question that is no turn follows those before it. */
export function sorted(messages: readonly UIMessage[], turns: readonly Turn[]): UIMessage[] {
  const places = new Map(turns.map(({ question }, place) => [question.id, place]));
  let [place, latest] = [0, 0];
  return messages
    .map((message) => {
      if (message.role === "user") place = places.get(message.id) ?? latest;
      latest = Math.max(latest, place);
      return { message, place };
    })
    .sort((a, b) => a.place - b.place)
    .map(({ message }) => message);
}

export const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
