/** The edit history of a document, and the buttons that roll back the edits of one user. */

import type { DocumentAuthor, DocumentVersion, TrailEntry } from "atrium/server";
import { joinNames } from "../data/messages.ts";
import { Button, ScrollBox } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { formatSize, Time } from "../ui/time.tsx";
import { type DocumentPlace, titleOf, useHistoryAction, useTrail } from "./history.ts";

interface TrailProps {
  readonly place: DocumentPlace;
  readonly nameOf: (author: DocumentAuthor) => string;
  /** The shown version: a rollback concerns the edits since. */
  readonly version: DocumentVersion | undefined;
}

export function Trail({ place, nameOf, version }: TrailProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useTrail(place);
  const entries = data?.pages.flatMap(({ trail }) => trail) ?? [];
  return (
    <section aria-labelledby="trail">
      <h3 id="trail">Who wrote</h3>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {entries.length > 0 && (
        <ScrollBox className="people" label="Trail">
          <ol>
            {entries.map((entry) => (
              <Entry key={entry.seq} entry={entry} nameOf={nameOf} />
            ))}
          </ol>
        </ScrollBox>
      )}
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Older changes
        </Button>
      )}
      <Rollbacks {...{ place, nameOf }} authors={entries.flatMap(({ authors }) => authors)} since={version} />
    </section>
  );
}

interface EntryProps {
  readonly entry: TrailEntry;
  readonly nameOf: TrailProps["nameOf"];
}

const Entry = ({ entry: { authors, last_at, updates, bytes }, nameOf }: EntryProps) => (
  <li>
    <strong>{joinNames(authors.map(nameOf))}</strong>
    <span className="soft">
      {updates === 1 ? "1 update" : `${updates.toLocaleString("en")} updates`}, {formatSize(bytes)}
    </span>
    <Time at={last_at} />
  </li>
);

interface RollbacksProps {
  readonly place: DocumentPlace;
  readonly authors: readonly DocumentAuthor[];
  /** Undefined for all edits. */
  readonly since: DocumentVersion | undefined;
  readonly nameOf: (author: DocumentAuthor) => string;
}

/** A button for each user among the authors. */
function Rollbacks({ place, authors, since, nameOf }: RollbacksProps) {
  const users = new Map(
    authors.flatMap((author) =>
      author.type === "user" && author.id !== null ? [[author.id, nameOf(author)] as const] : [],
    ),
  );
  return (
    <div className="row-actions">
      {[...users].map(([userId, name]) => (
        <Rollback key={userId} {...{ place, userId, name, since }} />
      ))}
    </div>
  );
}

interface RollbackProps extends Pick<RollbacksProps, "place" | "since"> {
  readonly userId: string;
  readonly name: string;
}

function Rollback({ place, userId, name, since }: RollbackProps) {
  const rollBack = useHistoryAction(
    place,
    (documents) =>
      documents.rollBack(place.roomId, place.name, { userId, ...(since && { from: since.version }) }),
    { toast: (applied) => (applied ? "Changes taken back" : "There was nothing to take back") },
  );
  return (
    <ConfirmButton
      label={`Take back ${name}'s changes…`}
      variant="quiet"
      title={`Take back what ${name} wrote${since === undefined ? "" : ` since ${titleOf(since)}`}?`}
      confirmLabel="Take back"
      action={rollBack}
    >
      <p>
        {since === undefined
          ? "This concerns all that the user ever wrote; choose a version first to take back only what came after it. "
          : ""}
        Everyone who has the document open receives this as an edit. What others have written stays, and the
        document as it is becomes a version.
      </p>
    </ConfirmButton>
  );
}
