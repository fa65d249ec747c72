/** `VersionHistory`: the versions of a document, what has changed in each, and the way back to one. */
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useDocumentVersions, useRoomPermissions, useUsers, type VersionComparison } from "../react/index.ts";
import { Failure, LoadFailure, useAttempts, useReturnedFocus } from "./room.tsx";
import { useTexts } from "./texts.ts";

type Version = ReturnType<typeof useDocumentVersions>[0]["versions"][number];
type Changes = Awaited<ReturnType<ReturnType<typeof useDocumentVersions>[1]["compare"]>>;

interface VersionHistoryProps extends Pick<VersionComparison, "type" | "root"> {
  /** The name of the document. */
  readonly document: string;
  /** Shows a version in place of its differences from the one before. */
  readonly preview?: ((version: Version) => ReactNode) | undefined;
}

/** The versions of a document, newest first, 50 at a time. Viewers can read them too. */
export function VersionHistory({ document, preview, ...compared }: VersionHistoryProps): ReactNode {
  const texts = useTexts();
  const [{ versions, hasMore, isLoading, error }, actions] = useDocumentVersions(document);
  const [shown, setShown] = useState<number | null>(null);
  const [result, setResult] = useState("");
  useEffect(() => actions.reload(), [actions]); // the room has made versions meanwhile
  return (
    <section className="atrium atrium-versions" aria-label={texts.versions} aria-busy={isLoading}>
      <p role="status" className="atrium-hidden">
        {result}
      </p>
      {isLoading && <p className="atrium-none">{texts.loading}</p>}
      <LoadFailure error={error} reload={actions.reload} />
      {!isLoading && error === null && versions.length === 0 && (
        <p className="atrium-none">{texts.noVersions}</p>
      )}
      <ol>
        {versions.map((version) => {
          const { version: number } = version;
          const isShown = shown === number;
          return (
            <li key={number}>
              <VersionItem
                version={version}
                isShown={isShown}
                toggle={() => setShown(isShown ? null : number)}
                restore={async () => {
                  const isChanged = await actions.restore(number);
                  setResult(isChanged ? texts.restored : texts.sameAsNow);
                }}
              />
              {isShown &&
                (preview?.(version) ?? (
                  <Differences
                    read={() =>
                      actions.compare({ ...compared, from: version.previous ?? undefined, to: number })
                    }
                  />
                ))}
            </li>
          );
        })}
      </ol>
      {hasMore && error === null && (
        <button type="button" onClick={() => actions.loadMore()}>
          {texts.showOlder}
        </button>
      )}
    </section>
  );
}

interface VersionItemProps {
  readonly version: Version;
  readonly isShown: boolean;
  toggle(): void;
  restore(): Promise<void>;
}

function VersionItem({ version, isShown, toggle, restore }: VersionItemProps) {
  const texts = useTexts();
  const authors = useUsers(version.authors.flatMap(({ id }) => id ?? []));
  const mayWrite = useRoomPermissions().canWrite("documents");
  const { isBusy, ...attempts } = useAttempts();
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const time = texts.time(new Date(version.updated_at));
  const names = authors.flatMap((author) => author?.name ?? []);
  const close = () => setAsking(false);
  useReturnedFocus(button, isAsking);
  return (
    <div className="atrium-bar">
      <span id={id}>
        <b>{version.name ?? time}</b>
        <small>
          {version.name !== null && time} {names.join(", ")}
        </small>
      </span>
      {isAsking ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would look like one
        <span role="group" aria-label={texts.confirmRestore} className="atrium-own">
          {texts.confirmRestore}
          <button
            type="button"
            className="atrium-primary"
            disabled={isBusy}
            // biome-ignore lint/a11y/noAutofocus: the person has just asked to restore
            autoFocus
            onClick={async () => {
              const done = await attempts.attempt(async () => {
                await restore();
                return true;
              });
              if (done) close();
            }}
          >
            {texts.restore}
          </button>
          <button type="button" onClick={close}>
            {texts.cancel}
          </button>
        </span>
      ) : (
        <span className="atrium-own">
          <button type="button" aria-expanded={isShown} aria-describedby={id} onClick={toggle}>
            {texts.showChanges}
          </button>
          {mayWrite && (
            <button ref={button} type="button" aria-describedby={id} onClick={() => setAsking(true)}>
              {texts.restore}
            </button>
          )}
        </span>
      )}
      <Failure {...attempts} />
    </div>
  );
}

function Differences({ read }: { read(): Promise<Changes> }) {
  const texts = useTexts();
  const [changes, setChanges] = useState<Changes | null>(null);
  const { attempt, ...attempts } = useAttempts();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the versions that are compared do not change
  useEffect(() => {
    void attempt(read).then((found) => found && setChanges(found));
  }, []);
  if (changes === null) return attempts.error === null ? texts.loading : <Failure {...attempts} />;
  if (changes.length === 0) return <p className="atrium-none">{texts.noChanges}</p>;
  return (
    <div className="atrium-changes" dir="auto">
      {changes.map(({ path, before, after, segments }) => (
        <div key={path.join("/")}>
          {path.length > 0 && <b>{path.join(" / ")}</b>}
          {segments === null ? (
            <>
              {before !== null && <del>{JSON.stringify(before)}</del>}
              {after !== null && <ins>{JSON.stringify(after)}</ins>}
            </>
          ) : (
            segments.map(({ op, kind, text }, index) => {
              const Tag = ({ insert: "ins", delete: "del", keep: "span", format: "em" } as const)[op];
              // biome-ignore lint/suspicious/noArrayIndexKey: a comparison does not change
              return <Tag key={index}>{kind === "tag" ? (text.startsWith("</") ? "\n" : "") : text}</Tag>;
            })
          )}
        </div>
      ))}
    </div>
  );
}
