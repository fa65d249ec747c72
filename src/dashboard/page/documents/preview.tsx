/** What the chosen state of a document says, or what differs between two. */
import type { DocumentAuthor, DocumentSummary, DocumentVersion } from "atrium/server";
import { useState } from "react";
import { useLive } from "../live/live.tsx";
import { Button } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { formatSize } from "../ui/size.ts";
import { Comparison } from "./comparison.tsx";
import { ContentView } from "./content-view.tsx";
import type { Choice, Chosen } from "./use-choice.ts";
import { MAX_READ_BYTES, MAX_SHOWN_BYTES, useContent } from "./use-content.ts";
import type { DocumentPlace } from "./use-history.ts";
import { useLiveContent } from "./use-live-content.ts";
import { titleOf } from "./version-slider.tsx";

export interface PreviewProps {
  readonly place: DocumentPlace;
  readonly document: DocumentSummary;
  readonly choice: Choice;
  readonly versions: readonly DocumentVersion[];
  readonly authorName: (author: DocumentAuthor) => string;
}

export function Preview(props: PreviewProps) {
  const { bytes } = props.document;
  const [isAsked, setAsked] = useState(false);
  if (bytes > MAX_READ_BYTES)
    return (
      <p className="soft">
        With {formatSize(bytes)}, the document is too large to be shown here. You can download its update.
      </p>
    );
  if (bytes > MAX_SHOWN_BYTES && !isAsked)
    return (
      <div className="restored">
        <p>The document has {formatSize(bytes)}. Reading it may slow this page down.</p>
        <Button onClick={() => setAsked(true)}>Show it</Button>
      </div>
    );
  return <Content {...props} />;
}

function Content({ place, document, choice, versions, authorName }: PreviewProps) {
  const { client } = useLive();
  const { version, comparedWith } = choice;
  const isCompared = comparedWith !== undefined && comparedWith !== version;
  const pushed = useLiveContent(place, client);
  const { seq } = document;
  const needsNow = version === null || comparedWith === null;
  const now = useContent(place, { version: null, seq, isWanted: needsNow && pushed === null });
  const then = useContent(place, { version, seq, isWanted: version !== null });
  const other = useContent(place, {
    version: comparedWith ?? null,
    seq,
    isWanted: typeof comparedWith === "number",
  });
  const nowRoots = pushed ?? now.data?.roots;
  const shown = version === null ? nowRoots : then.data?.roots;
  const compared = comparedWith === null ? nowRoots : other.data?.roots;
  const error = (version === null ? now.error : then.error) ?? (isCompared ? other.error : null);
  const nameOf = (chosen: Chosen) => {
    const found = versions.find((one) => one.version === chosen);
    return chosen === null ? "now" : found === undefined ? `Version ${chosen}` : titleOf(found);
  };
  return (
    <>
      <ComparisonChoice choice={choice} versions={versions} nameOf={nameOf} />
      <ErrorMessage error={error} />
      {shown === undefined && !error && <Loading />}
      {shown !== undefined && !isCompared && <ContentView roots={shown} />}
      {shown !== undefined && isCompared && compared !== undefined && (
        <Comparison
          {...{ place, seq, authorName }}
          {...(isOlder(version, comparedWith)
            ? { ...spanOf(version, comparedWith), before: shown, after: compared }
            : { ...spanOf(comparedWith, version), before: compared, after: shown })}
        />
      )}
    </>
  );
}

const isOlder = (one: Chosen, other: Chosen): boolean =>
  (one ?? Number.POSITIVE_INFINITY) < (other ?? Number.POSITIVE_INFINITY);

/** From the older to the newer; only the latter may be the document as it is. */
const spanOf = (older: Chosen, newer: Chosen) => ({ from: older ?? 0, to: newer });

interface ComparisonChoiceProps {
  readonly choice: Choice;
  readonly versions: readonly DocumentVersion[];
  readonly nameOf: (chosen: Chosen) => string;
}

function ComparisonChoice({ choice, versions, nameOf }: ComparisonChoiceProps) {
  const { comparedWith, version, compareWith } = choice;
  const others: readonly Chosen[] = [null, ...versions.map((one) => one.version)];
  return (
    <SelectField
      label="Compare with"
      value={comparedWith === undefined ? "" : `${comparedWith}`}
      onChange={({ currentTarget: { value } }) =>
        compareWith(value === "" ? undefined : value === "null" ? null : Number(value))
      }
    >
      <option value="">Nothing</option>
      {others
        .filter((other) => other !== version)
        .map((other) => (
          <option key={other} value={`${other}`}>
            {other === null ? "Now" : nameOf(other)}
          </option>
        ))}
    </SelectField>
  );
}
