/** The transport of `useChat`: questions go to the back end, answers come from streams of the room. */
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import type { AtriumClient } from "atrium/client";
import { stream } from "atrium/streams";

export class RoomTransport implements ChatTransport<UIMessage> {
  /** Resuming reads an answer from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #client: AtriumClient;
  /** The name of the stream that `resumeStream` reads. */
  answer: string | null = null;

  constructor(client: AtriumClient) {
    this.#client = client;
  }

  async sendMessages({ messages, abortSignal }: Parameters<ChatTransport<UIMessage>["sendMessages"]>[0]) {
    const response = await fetch("/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ messages }),
    });
    if (!response.ok) throw new Error(await response.text());
    const { answer }: { answer: string } = await response.json();
    return this.#read(answer, abortSignal);
  }

  async reconnectToStream({ abortSignal }: Parameters<ChatTransport<UIMessage>["reconnectToStream"]>[0]) {
    return this.answer === null ? null : this.#read(this.answer, abortSignal);
  }

  /** Stopping ends the reading in this window only: the back end goes on for the others. */
  #read(answer: string, signal?: AbortSignal): ReadableStream<UIMessageChunk> {
    const parts = stream<UIMessageChunk>(this.#client, answer).read({ signal });
    return new ReadableStream({
      async start(controller) {
        for await (const { messages } of parts) for (const chunk of messages) controller.enqueue(chunk);
        controller.close();
      },
    });
  }
}
