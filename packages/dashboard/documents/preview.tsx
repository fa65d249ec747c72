/** The content of the chosen state of a document, as text and as a tree, or the differences between two states. */

import { replaceEqualDeep } from "@tanstack/react-query";
import type { DocumentAuthor, DocumentSummary, DocumentVersion } from "atrium/server";
import { useEffect, useState } from "react";
import { useApiQuery } from "../data/organization.tsx";
import { useLive } from "../live/live.tsx";
import { Button, ScrollBox } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { TabPanels } from "../ui/tab-panels.tsx";
import { formatSize } from "../ui/time.tsx";
import { Comparison } from "./comparison.tsx";
import type { DocumentRoot } from "./document.ts";
import { type Chosen, type DocumentPlace, titleOf, type useChoice } from "./history.ts";

/** A document takes many times its bytes in memory: the page reads a larger one only when the person asks for it. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** A still larger one could end the tab. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

type Choice = ReturnType<typeof useChoice>;

interface PreviewProps {
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
  const { version, comparedWith } = choice;
  const isCompared = comparedWith !== undefined && comparedWith !== version;
  const pushed = useLiveContent(place.name);
  const { seq } = document;
  const needsNow = version === null || comparedWith === null;
  const now = useContent(place, { version: null, seq, isWanted: needsNow && pushed === null });
  const then = useContent(place, { version, seq, isWanted: version !== null });
  const other = useContent(place, {
    version: comparedWith ?? null,
    seq,
    isWanted: typeof comparedWith === "number",
  });
  const nowRoots = pushed ?? now.data;
  const shown = version === null ? nowRoots : then.data;
  const compared = comparedWith === null ? nowRoots : other.data;
  const error = (version === null ? now.error : then.error) ?? (isCompared ? other.error : null);
  const nameOf = (chosen: Chosen) => {
    const found = versions.find((one) => one.version === chosen);
    return chosen === null ? "Now" : found === undefined ? `Version ${chosen}` : titleOf(found);
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

/** The span from the older to the newer version; null means the document as it is, and may only be the newer. */
const spanOf = (older: Chosen, newer: Chosen) => ({ from: older ?? 0, to: newer });

interface ComparisonChoiceProps {
  readonly choice: Choice;
  readonly versions: readonly DocumentVersion[];
  readonly nameOf: (chosen: Chosen) => string;
}

function ComparisonChoice({ choice, versions, nameOf }: ComparisonChoiceProps) {
  const { comparedWith, version, compareWith } = choice;
  const all: readonly Chosen[] = [null, ...versions.map((one) => one.version)];
  const others = all.filter((other) => other !== version);
  return (
    <SelectField
      label="Compare with"
      value={comparedWith === undefined ? "" : `${comparedWith}`}
      onChange={({ currentTarget: { value } }) =>
        compareWith(value === "" ? undefined : value === "null" ? null : Number(value))
      }
      options={[["", "Nothing"], ...others.map((other) => [`${other}`, nameOf(other)] as const)]}
    />
  );
}

interface ContentOptions {
  /** Null for the document as it is, whose latest update is `seq`. */
  readonly version: number | null;
  readonly seq: number;
  readonly isWanted: boolean;
}

/** The shared types of a document or of a version. Yjs, which reads them, is loaded on demand. */
const useContent = ({ roomId, name }: DocumentPlace, { version, seq, isWanted }: ContentOptions) =>
  useApiQuery(
    ["document content", roomId, name, version ?? "now", version ?? seq],
    async ({ documents }): Promise<readonly DocumentRoot[]> => {
      const [update, { readUpdate }] = await Promise.all([
        documents.get(roomId, name, version === null ? {} : { version }),
        import("./read-document.ts"),
      ]);
      return readUpdate(update);
    },
    {
      enabled: isWanted,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      structuralSharing: false,
    },
  );

/** The content as it changes; null while the person does not watch live, and until the document is there. */
function useLiveContent(name: string): readonly DocumentRoot[] | null {
  const { client } = useLive();
  const [roots, setRoots] = useState<readonly DocumentRoot[] | null>(null);
  useEffect(() => {
    if (client === null) return;
    const watching = new AbortController();
    const { signal } = watching;
    void import("./watch-document.ts").then(({ watchDocument }) => {
      if (!signal.aborted) watchDocument(client, name, { signal, show: setRoots });
    });
    return () => {
      watching.abort();
      setRoots(null);
    };
  }, [client, name]);
  return roots;
}

/** More text at once makes the page slow. */
const MAX_CHARACTERS = 200_000;

/** The value with equal parts of the previous one reused: only changed parts are new objects. */
function useShared<Value>(value: Value): Value {
  const [known, setKnown] = useState(value);
  if (Object.is(known, value)) return known;
  const shared = replaceEqualDeep(known, value) as Value;
  if (!Object.is(known, shared)) setKnown(shared);
  return shared;
}

function ContentView({ roots }: { readonly roots: readonly DocumentRoot[] }) {
  const shared = useShared(roots);
  const texts = shared.filter(({ text }) => text !== null);
  if (shared.length === 0) return <p className="soft">It has no content.</p>;
  return (
    <TabPanels
      label="Forms of the content"
      className="document-content"
      initial={texts.length > 0 ? "Text" : "Shared types"}
      panels={[
        {
          name: "Text",
          content:
            texts.length === 0 ? (
              <p className="soft">None of its shared types is text.</p>
            ) : (
              texts.map(({ name, text }) => (
                <Text key={name} name={name} text={text ?? ""} isAlone={texts.length === 1} />
              ))
            ),
        },
        {
          name: "Shared types",
          content: (
            <ScrollBox className="json-tree" label="Shared types">
              {shared.map(({ name, kind, json }) => (
                <JsonTree key={`${kind} ${name}`} name={`${name} (${kind})`} value={json} isOpen />
              ))}
            </ScrollBox>
          ),
        },
      ]}
    />
  );
}

interface TextProps {
  readonly name: string;
  readonly text: string;
  readonly isAlone: boolean;
}

function Text({ name, text, isAlone }: TextProps) {
  const left = text.length - MAX_CHARACTERS;
  return (
    <>
      {!isAlone && <h3>{name}</h3>}
      <ScrollBox className="document-text" label={`Text of ${name}`}>
        {text === "" ? <span className="soft">Empty.</span> : text.slice(0, MAX_CHARACTERS)}
      </ScrollBox>
      {left > 0 && <p className="soft">{left.toLocaleString("en")} more characters are in the download.</p>}
    </>
  );
}
