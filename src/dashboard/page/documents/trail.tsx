/** Who wrote what in a document, and when. */
import type { DocumentAuthor, DocumentVersion, TrailEntry } from "atrium/server";
import { Button } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { formatSize } from "../ui/size.ts";
import { Time } from "../ui/time.tsx";
import { Rollbacks } from "./rollbacks.tsx";
import { joinNames } from "./use-author-names.ts";
import { type DocumentPlace, useTrail } from "./use-history.ts";

export interface TrailProps {
  readonly place: DocumentPlace;
  readonly nameOf: (author: DocumentAuthor) => string;
  /** The version that is shown, since which one can take back what a user wrote. */
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className="scroll stream" tabIndex={0} aria-label="Trail">
          <ol>
            {entries.map((entry) => (
              <Entry key={entry.seq} entry={entry} nameOf={nameOf} />
            ))}
          </ol>
        </section>
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
