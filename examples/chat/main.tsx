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
  const [turns] = useStore<Turn>("turns");
  const { messages, sendMessage, setMessages, resumeStream, status, error } = useChat({ transport });
  const [isFollowing, setFollowing] = useState(false);
  const { status: connection } = useConnection();
  const isReady = (status === "ready" || status === "error") && !isFollowing;

  /** Shows the first turn that is missing here: after a reload, or when somebody else has asked. */
  useEffect(() => {
    if (!isReady) return;
    const next = inOrder(turns).find(({ question }) => !messages.some(({ id }) => id === question.id));
    if (next === undefined) return;
    transport.answer = next.answer;
    setFollowing(true);
    setMessages([...messages, next.question]);
    void resumeStream().finally(() => setFollowing(false));
  }, [isReady, turns, messages, transport, setMessages, resumeStream]);

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
        <button type="submit" disabled={!isReady || connection !== "connected"}>
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
