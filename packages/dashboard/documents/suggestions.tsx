/** The suggestions of a document: what they change, and the review of those that wait for one. */

import type { AtriumServer, DocumentAuthor, SuggestedPart, Suggestion } from "atrium/server";
import { useState } from "react";
import { useApiQuery } from "../data/organization.tsx";
import { Button, ScrollBox } from "../ui/button.tsx";
import { Badge, Details, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Choice } from "../ui/fields.tsx";
import { Time } from "../ui/time.tsx";
import { type DocumentPlace, useHistoryAction, useSuggestions } from "./history.ts";

interface SuggestionsProps {
  readonly place: DocumentPlace;
  readonly nameOf: (author: DocumentAuthor) => string;
}

export function Suggestions({ place, nameOf }: SuggestionsProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useSuggestions(place);
  const suggestions = data?.pages.flatMap((page) => page.suggestions) ?? [];
  if (suggestions.length === 0 && !error) return null;
  return (
    <section aria-labelledby="suggestions">
      <h3 id="suggestions">Suggestions</h3>
      <ErrorMessage error={error} onRetry={refetch} />
      <ul className="people">
        {suggestions.map((suggestion) => (
          <li key={suggestion.id}>
            <Entry {...{ place, nameOf, suggestion }} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Older suggestions
        </Button>
      )}
    </section>
  );
}

interface EntryProps extends SuggestionsProps {
  readonly suggestion: Suggestion;
}

function Entry({ place, nameOf, suggestion }: EntryProps) {
  const { title, author, status, updated_at, reviewed_by, comment } = suggestion;
  return (
    <Details summary={title ?? `Suggestion of ${nameOf(author)}`}>
      <p className="soft">
        {nameOf(author)} <Time at={updated_at} />{" "}
        <Badge tone={status === "approved" ? "good" : "plain"}>
          {reviewed_by === null ? status : `${status} by ${nameOf(reviewed_by)}`}
        </Badge>
      </p>
      {comment !== null && <p>{comment}</p>}
      <Review {...{ place, suggestion }} />
    </Details>
  );
}

/** Reads the parts when it is shown, and again when the suggestion or the document has changed. */
function Review({ place, suggestion }: Pick<EntryProps, "place" | "suggestion">) {
  const { roomId, name } = place;
  const { id, updated_at } = suggestion;
  const { data, error, refetch } = useApiQuery(
    ["room", roomId, "history", name, "suggestion", id, updated_at],
    ({ documents }) => documents.suggestion(roomId, name, id),
  );
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  return <Decision place={place} read={data} readAgain={() => void refetch()} />;
}

interface DecisionProps extends Pick<EntryProps, "place"> {
  readonly read: Awaited<ReturnType<AtriumServer["documents"]["suggestion"]>>;
  readonly readAgain: () => void;
}

function Decision({ place, read: { suggestion, seq, parts }, readAgain }: DecisionProps) {
  const { roomId, name } = place;
  const { id, reviewed_at } = suggestion;
  const [rejected, setRejected] = useState<ReadonlySet<string>>(new Set());
  /** The reader has chosen among the parts of this number. */
  const [seen, setSeen] = useState(seq);
  const isOpen = reviewed_at === null;
  const hasChanged = isOpen && seq !== seen;
  const review = useHistoryAction(
    place,
    (documents, accept: "all" | string[]) => documents.reviewSuggestion(roomId, name, id, { seq, accept }),
    { toast: ({ suggestion }) => (suggestion.status === "approved" ? "Accepted" : "Rejected") },
  );
  const accepted = parts.filter((part) => part.state === "pending" && !rejected.has(part.id));
  const isAll = accepted.length === parts.length;
  const choose = (part: SuggestedPart, isOn: boolean) => {
    setRejected((known) => new Set([...known, part.id].filter((each) => !isOn || each !== part.id)));
    setSeen(seq);
  };
  const decide = (accept: "all" | string[]) => review.mutate(accept, { onError: readAgain });
  const button = { isBusy: review.isPending, disabled: hasChanged };
  return (
    <>
      {hasChanged && (
        <p>
          Its author has changed it since you read it.{" "}
          <Button variant="quiet" onClick={() => setSeen(seq)}>
            Choose again
          </Button>
        </p>
      )}
      {parts.length === 0 && <p className="soft">It changes nothing.</p>}
      <ScrollBox className="text-diff" label="Suggested changes">
        {parts.map((part) =>
          part.state === "pending" ? (
            <Choice
              key={part.id}
              isOn={!rejected.has(part.id)}
              label={`Accept ${part.after ?? part.before}`}
              onChange={(isOn) => choose(part, isOn)}
            >
              <Part part={part} />
            </Choice>
          ) : (
            <p key={part.id}>
              <span className="soft">{part.state}: </span>
              <Part part={part} />
            </p>
          ),
        )}
      </ScrollBox>
      <ErrorMessage error={review.error} />
      {isOpen && (
        <div className="row-actions">
          {accepted.length > 0 && (
            <Button {...button} onClick={() => decide(isAll ? "all" : accepted.map((part) => part.id))}>
              {isAll ? "Accept" : "Accept selected, reject the rest"}
            </Button>
          )}
          <Button variant="quiet" {...button} onClick={() => decide([])}>
            Reject
          </Button>
        </div>
      )}
    </>
  );
}

const Part = ({ part: { before, after, context } }: { readonly part: SuggestedPart }) => (
  <span>
    {context.before}
    {before !== null && <del>{before}</del>}
    {after !== null && <ins>{after}</ins>}
    {context.after}
  </span>
);
