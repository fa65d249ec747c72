/** First steps for a new organization: each shows when it is done, and the list stays until all are. */
import type { Overview } from "atrium/server";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { NewRoom } from "../rooms/new-room.tsx";
import { useKeys } from "../settings/use-keys.ts";
import { Badge } from "../ui/feedback.tsx";

export function FirstSteps({ overview }: { readonly overview: Overview }) {
  const address = useAddress();
  const { data: keys } = useKeys({ limit: 1, offset: 0 });
  if (keys === undefined) return null;
  const done = {
    room: overview.rooms_total > 0,
    key: keys.total > 0,
    join: overview.first_joined_at !== null,
  };
  if (done.room && done.key && done.join) return null;
  return (
    <section className="steps" aria-labelledby="first-steps">
      <h2 id="first-steps">Get started in three steps</h2>
      <ol>
        <Step
          title="Create a room"
          about="A room is a space your users share, such as a board, a document or a call."
          isDone={done.room}
        >
          <NewRoom />
        </Step>
        <Step
          title="Get an API key"
          about="Your back end uses it to create users and get a token for each of them."
          isDone={done.key}
        >
          <Link className="button plain" href={address("/settings")}>
            API keys
          </Link>
        </Step>
        <Step
          title="Join from a browser"
          about="All the SDK needs is a user's token. The samples below have everything filled in."
          isDone={done.join}
        >
          <a className="button plain" href="/docs/guides/connecting">
            Documentation
          </a>
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly title: string;
  readonly about: string;
  readonly isDone: boolean;
  /** How to do it. */
  readonly children: ReactNode;
}

const Step = ({ title, about, isDone, children }: StepProps) => (
  <li>
    <div>
      <h3>{title}</h3>
      <p className="soft">{about}</p>
    </div>
    {isDone ? <Badge tone="good">done</Badge> : children}
  </li>
);
