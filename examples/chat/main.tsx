/** A conversation with a model that everyone in the room sees, also in mid-answer and after a reload. */
import { useChat } from "@ai-sdk/react";
import { AtriumClient } from "atrium/client";
import { RoomProvider, useConnection, useStore } from "atrium/react";
import { type FormEvent, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { enter, find, say } from "./page.ts";
import { RoomTransport } from "./transport.ts";
import { inOrder, sorted, type Turn, textOf } from "./turn.ts";

function Chat({ transport }: { readonly transport: RoomTransport }) {
  const [turns, , { isLoading }] = useStore<Turn>("turns");
  const { messages, sendMessage, setMessages, resumeStream, status, error } = useChat({ transport });
  const [isFollowing, setFollowing] = useState(false);
  const { status: connection } = useConnection();
  const isFree = (status === "ready" || status === "error") && !isFollowing;
  /** The first turn that is not here: after a reload, or when somebody else has asked. */
  const missing = inOrder(turns).find(({ question }) => !messages.some(({ id }) => id === question.id));
  const isReady = isFree && !isLoading && missing === undefined && connection === "connected";

  /** An answer that is read to its end, or cannot be read, makes room for the next one. */
  useEffect(() => {
    if (!isFree || missing === undefined) return;
    transport.answer = missing.answer;
    setFollowing(true);
    setMessages([...messages, missing.question]);
    void resumeStream().finally(() => setFollowing(false));
  }, [isFree, missing, messages, transport, setMessages, resumeStream]);

  useEffect(() => {
    say(error ? `The answer has failed: ${error.message}` : connection);
  }, [error, connection]);

  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("question")).trim();
    if (text === "") return;
    form.reset();
    void sendMessage({ text });
  };

  return (
    <>
      <ol aria-label="Conversation">
        {sorted(messages, inOrder(turns)).map((message) => (
          <li key={message.id} data-role={message.role}>
            {textOf(message)}
          </li>
        ))}
      </ol>
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" placeholder="Ask something" autoComplete="off" />
        <button type="submit" disabled={!isReady}>
          Ask
        </button>
      </form>
    </>
  );
}

try {
  const { serverUrl, token } = await enter();
  const client = new AtriumClient({ serverUrl, authToken: token });
  const transport = new RoomTransport(client);
  createRoot(find("main")).render(
    <RoomProvider client={client}>
      <Chat transport={transport} />
    </RoomProvider>,
  );
} catch (error) {
  say(`The room could not be opened: ${error}`);
}
