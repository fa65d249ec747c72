/** Who is here, and how one's own connection fares. */
import { useConnection, useOthers, useRoom, useSelf } from "atrium/react";
import { useEffect, useState } from "react";
import { type Person, readPerson } from "./model.ts";

/** Oneself, the others, and whom of them one follows. */
export function useEverybody() {
  const self = useSelf();
  const others = useOthers().map(readPerson);
  return { self, others, followed: others.find(({ id }) => self?.user.following.includes(id)) };
}

/** A click on somebody follows them: their cursor stands out and stays in view. */
export function People() {
  const { users } = useRoom().client;
  const { self, others, followed } = useEverybody();
  const follow = async ({ id }: Person) => {
    if (followed) await users.get({ userId: followed.id })?.unfollow();
    if (id !== followed?.id) await users.get({ userId: id })?.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{self && `You are ${self.user.name}${others.length === 0 ? ": open a second window" : ""}`}</p>
      {others.map((person) => (
        <button
          key={person.id}
          type="button"
          style={{ color: person.color }}
          aria-label={`Follow ${person.name}`}
          aria-pressed={person === followed}
          onClick={() => follow(person)}
        >
          <span>{person.name.split(" ", 2).map((word) => [...word][0])}</span>
        </button>
      ))}
    </header>
  );
}

/** What the visitor should know of the connection, and of what the room has refused. */
export function Notices() {
  const { state, error } = useConnection();
  const [refusal, setRefusal] = useState<Error | null>(null);
  useEffect(() => {
    window.onunhandledrejection = ({ reason }) => setRefusal(reason);
  }, []);
  return (
    <div className="notices" role="status">
      {state.endsWith("connecting") && <p className="pill">Connecting… What you do meanwhile is kept.</p>}
      {(error || refusal) && (
        <a className="pill" href="/demo" onClick={() => error && sessionStorage.clear()}>
          {(error ?? refusal)?.message} <b>Reload</b>
        </a>
      )}
    </div>
  );
}
