/** All threads of the board: each leads to its pin. */

import { useComments, useUsers } from "atrium/react";
import { useState } from "react";
import { useMayWrite } from "../room/participants.ts";
import Side from "./side.tsx";
import { type PanelProps, threadsOf } from "./threads.ts";

export default function Threads({ close, active, setActive }: PanelProps) {
  const [comments] = useComments();
  const mayComment = useMayWrite("comments");
  const [isResolved, setResolved] = useState(false);
  const threads = threadsOf(comments).filter(({ resolved }) => resolved === isResolved);
  const authors = useUsers(threads.map(({ user_id }) => user_id));
  const openId = active === "placing" ? undefined : active?.threadId;
  const hint = mayComment
    ? "Pin a comment to a note, a shape or a point of the board."
    : "There is no comment yet.";
  return (
    <Side title="Comments" close={close}>
      <div className="filters">
        {[false, true].map((filter) => (
          <button
            key={String(filter)}
            type="button"
            aria-pressed={filter === isResolved}
            onClick={() => setResolved(filter)}
          >
            {filter ? "Resolved" : "Open"}
          </button>
        ))}
        {mayComment && (
          <button type="button" className="button primary" onClick={() => setActive("placing")}>
            Add comment
          </button>
        )}
      </div>
      {threads.length === 0 && <p>{isResolved ? "No thread is resolved yet." : hint}</p>}
      <ol>
        {threads.map(({ id, text, created_at }, index) => {
          const count = comments.filter(({ thread_id }) => thread_id === id).length;
          return (
            <li key={id}>
              <button type="button" aria-pressed={id === openId} onClick={() => setActive({ threadId: id })}>
                <b>{authors[index] === null ? "Deleted user" : authors[index]?.name}</b>
                <time>
                  {new Date(created_at).toLocaleTimeString([], { timeStyle: "short" })}
                  {count > 1 && ` · ${count} comments`}
                </time>
                <span className="excerpt">{text}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </Side>
  );
}
