/** Comments, which are stored, and emoji reactions, which are broadcast to everyone online. */
import { useBroadcast, useComments, useRoom } from "atrium/react";
import { useState } from "react";

export function Comments() {
  const { users } = useRoom().client;
  const [comments, { create }] = useComments();
  const send = (form: FormData) => {
    void create({ text: String(form.get("text")), threadId: comments[0]?.thread_id });
  };
  return (
    <details open={innerWidth > 960}>
      <summary>Comments ({comments.length})</summary>
      <ol>
        {comments.map(({ id, user_id, text, created_at }) => (
          <li key={id}>
            <b>{users.get({ userId: user_id })?.name ?? "Deleted user"}</b>
            <time>{new Date(created_at).toLocaleTimeString([], { timeStyle: "short" })}</time>
            <p>{text}</p>
          </li>
        ))}
      </ol>
      <form action={send}>
        <input name="text" aria-label="Comment" placeholder="Add a comment" maxLength={1_000} required />
        <input type="submit" className="primary" value="Send" />
      </form>
    </details>
  );
}

/** Emoji that systems without an emoji font can draw too. */
const EMOJI = ["❤️", "😄", "😂", "😮", "☕"];

export function Reactions() {
  const [floating, setFloating] = useState<readonly { id: number; emoji: string }[]>([]);
  const float = (sent: unknown) => {
    const emoji = EMOJI.find((known) => known === sent); // never trust what other clients send
    if (emoji) setFloating((all) => [...all.slice(-40), { id: (all.at(-1)?.id ?? 0) + 1, emoji }]);
  };
  const broadcast = useBroadcast("emoji", float);
  const send = (emoji: string) => {
    float(emoji);
    void broadcast(emoji);
  };
  return (
    <>
      {EMOJI.map((emoji) => (
        <button key={emoji} type="button" onClick={() => send(emoji)}>
          {emoji}
        </button>
      ))}
      {floating.map(({ id, emoji }) => (
        <span key={id} className="float" style={{ left: `${10 + ((id * 37) % 80)}%` }}>
          {emoji}
        </span>
      ))}
    </>
  );
}
