/** All threads of the board: each leads to its pin. */

import { useComments, useUsers } from "atrium/react";
import { useState } from "react";
import { isNarrow } from "../canvas/camera.ts";
import { useMayWrite } from "../room/participants.ts";
import Side from "./side.tsx";
import { type PanelProps, threadsOf } from "./threads.ts";

const countOf = (comments: number): string => (comments === 1 ? "" : ` · ${comments} comments`);

export default function Threads({ close, focus, setFocus }: PanelProps) {
  const [comments] = useComments();
  const mayComment = useMayWrite("comments");
  const [isResolved, setResolved] = useState(false);
  const threads = threadsOf(comments).filter((thread) => thread.isResolved === isResolved);
  const authors = useUsers(threads.map(({ comments: [first] }) => first.user_id));
  const go = (next: Parameters<typeof setFocus>[0]) => {
    if (isNarrow()) close(); // a sheet covers the board
    setFocus(next);
  };
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
          <button type="button" className="primary" onClick={() => go({ type: "placing" })}>
            Add comment
          </button>
        )}
      </div>
      {threads.length === 0 && (
        <p className="none">
          {isResolved
            ? "No thread is resolved yet."
            : mayComment
              ? "Pin a comment to a note, a shape or a point of the board."
              : "There is no comment yet."}
        </p>
      )}
      <ol>
        {threads.map(({ id, anchor, comments: all }, index) => {
          const author = authors[index];
          const name = author === undefined ? "" : (author?.name ?? "Deleted user");
          return (
            <li key={id}>
              <button
                type="button"
                aria-pressed={focus?.type === "thread" && focus.id === id}
                onClick={() => go({ type: "thread", id, isRevealed: false })}
              >
                <span className="dot" style={{ background: anchor?.color }} />
                <span>
                  <b>{name}</b>
                  <time>
                    {new Date(all[0].created_at).toLocaleTimeString([], { timeStyle: "short" })}
                    {countOf(all.length)}
                  </time>
                  <span className="excerpt">{all[0].text}</span>
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </Side>
  );
}
