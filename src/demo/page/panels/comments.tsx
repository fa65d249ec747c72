/** Comments, which the room keeps. */
import { useComments, useRoom } from "atrium/react";
import { useTyping, useTypists } from "../room/participants.ts";
import type { PanelProps } from "./dock.tsx";
import { Side } from "./side.tsx";

export default function Comments({ close }: PanelProps) {
  const { users } = useRoom().client;
  const [comments, { create }] = useComments();
  const typing = useTyping("comments");
  const typists = useTypists("comments");
  const send = (form: FormData) => {
    typing.ended();
    void create({ text: String(form.get("text")), threadId: comments[0]?.thread_id });
  };
  return (
    <Side title="Comments" close={close}>
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
        <input
          name="text"
          aria-label="Comment"
          placeholder={typists || "Add a comment"}
          maxLength={1_000}
          required
          onInput={typing.typed}
          onBlur={typing.ended}
        />
        <input type="submit" className="primary" value="Send" />
      </form>
    </Side>
  );
}
