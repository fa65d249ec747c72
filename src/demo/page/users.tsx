/** The participants and the state of the connection. */
import { useConnection, useOthers, useRoom, useSelf } from "atrium/react";
import { useEffect, useState } from "react";
import { type Participant, readParticipant } from "./model.ts";

/** This user, the others, and the one of them that this user follows. */
export function useParticipants() {
  const self = useSelf();
  const others = useOthers().map(readParticipant);
  return { self, others, followed: others.find(({ id }) => self?.user.following.includes(id)) };
}

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { users } = useRoom().client;
  const { self, others, followed } = useParticipants();
  const follow = async ({ id }: Participant) => {
    if (followed) await users.get({ userId: followed.id })?.unfollow();
    if (id !== followed?.id) await users.get({ userId: id })?.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>
        {self &&
          `You are ${self.user.name}${others.length === 0 ? ". Open a second window to add a participant." : ""}`}
      </p>
      {others.map((other) => (
        <button
          key={other.id}
          type="button"
          style={{ color: other.color }}
          aria-label={`Follow ${other.name}`}
          aria-pressed={other === followed}
          onClick={() => follow(other)}
        >
          <span>{other.name.split(" ", 2).map((word) => [...word][0])}</span>
        </button>
      ))}
    </header>
  );
}

/** Notices about the connection and about failed actions. */
export function Notices() {
  const { state, error } = useConnection();
  const [actionError, setActionError] = useState<Error | null>(null);
  useEffect(() => {
    window.onunhandledrejection = ({ reason }) => setActionError(reason);
  }, []);
  return (
    <div className="notices" role="status">
      {state.endsWith("connecting") && <p className="pill">Connecting… Your changes will be sent.</p>}
      {(error || actionError) && (
        <a className="pill" href="/demo" onClick={() => error && sessionStorage.clear()}>
          {(error ?? actionError)?.message} <b>Reload</b>
        </a>
      )}
    </div>
  );
}
