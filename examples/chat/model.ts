/** A small model that needs no key: it answers slowly, and always the same. */
import type { UIMessage, UIMessageChunk } from "ai";
import { textOf } from "./turn.ts";

const WORD_MS = 60;

/** The answer as `streamText(...).toUIMessageStream()` of the AI SDK returns it: put that here for a real model. */
export async function* generate(messages: readonly UIMessage[]): AsyncGenerator<UIMessageChunk> {
  const question = messages.at(-1);
  const answer = `You asked “${question ? textOf(question) : ""}”. ${BODY}`;
  const id = "text";
  yield { type: "start", messageId: crypto.randomUUID() };
  yield { type: "text-start", id };
  for (const delta of answer.split(/(?<= )/)) {
    yield { type: "text-delta", id, delta };
    await new Promise((resolve) => setTimeout(resolve, WORD_MS));
  }
  yield { type: "text-end", id };
  yield { type: "finish" };
}

const BODY = `This answer is written into a durable stream of the room, word by word. Reload the page while it grows: \
it continues where it is. Open a second window: it shows the same words at the same time. Close both, and come back \
later: the answer is complete, because the back end has written it to its end, whether anyone was watching or not. \
That is all. 🚀`;
