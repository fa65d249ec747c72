/** One document: its content, now and in each version, its authors, and its actions. */

import type { DocumentDetails } from "atrium/server";
import { Link, useLocation } from "wouter";
import { joinNames } from "../data/messages.ts";
import { orNull, useAction, useApiQuery } from "../data/organization.tsx";
import { LIVE_REFRESH_MS, LiveLine, useNames } from "../live/live.tsx";
import { Button, saveFile } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Empty, ErrorMessage, Loaded, Loading } from "../ui/feedback.tsx";
import { DropMenu, MenuItem } from "../ui/menu.tsx";
import { formatSize, Time } from "../ui/time.tsx";
import { jsonOf, textOf } from "./document.ts";
import {
  type Chosen,
  type DocumentPlace,
  useAuthorNames,
  useChoice,
  useFreshHistory,
  useVersions,
} from "./history.ts";
import { Preview } from "./preview.tsx";
import { Suggestions } from "./suggestions.tsx";
import { Trail } from "./trail.tsx";
import { NewVersion, VersionActions, VersionList, VersionSlider } from "./versions.tsx";

export default function DocumentPart(place: DocumentPlace) {
  const { roomId, name } = place;
  const query = useApiQuery(
    ["room", roomId, "documents", name],
    ({ documents }) => orNull(documents.summary(roomId, name)),
    { refetchInterval: LIVE_REFRESH_MS },
  );
  return (
    <Loaded query={query}>
      {(document) => (
        <section aria-label={`Document ${name}`}>
          <p className="above">
            <Link href={`/rooms/${roomId}/documents`}>Documents</Link>
          </p>
          {document === null ? (
            <Empty title={`There is no document ${name}`}>
              It was deleted, or no one has written in it yet. It appears here with its first change.
            </Empty>
          ) : (
            <Known place={place} document={document} />
          )}
        </section>
      )}
    </Loaded>
  );
}

interface KnownProps {
  readonly place: DocumentPlace;
  readonly document: DocumentDetails;
}

function Known({ place, document }: KnownProps) {
  const choice = useChoice();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useVersions(place);
  useFreshHistory(place, document.seq);
  const nameOf = useAuthorNames(place.roomId);
  const versions = data?.pages.flatMap((page) => page.versions) ?? [];
  const shown = versions.find(({ version }) => version === choice.version);
  const choosing = { versions, chosen: choice.version, onChoose: choice.choose };
  return (
    <>
      <Head place={place} document={document} version={choice.version} />
      <LiveLine />
      <div className="document-columns">
        <div className="document-main">
          <div className="version-bar">
            <VersionSlider {...choosing} />
            {shown === undefined ? (
              <NewVersion place={place} />
            ) : (
              <VersionActions place={place} version={shown} onLeave={() => choice.choose(null)} />
            )}
          </div>
          <Preview {...{ place, document, choice, versions }} authorName={nameOf} />
        </div>
        <div className="document-side">
          <section aria-labelledby="versions">
            <h3 id="versions">Versions</h3>
            <ErrorMessage error={error} onRetry={refetch} />
            {data === undefined && !error && <Loading />}
            {data !== undefined && versions.length === 0 && (
              <p className="soft">
                There are none yet. The room makes one before the first change after two minutes of quiet, and
                after five minutes of editing; or name the document as it is.
              </p>
            )}
            {versions.length > 0 && <VersionList {...choosing} nameOf={nameOf} />}
            {hasNextPage && (
              <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
                Older versions
              </Button>
            )}
          </section>
          <Suggestions place={place} nameOf={nameOf} />
          <Trail place={place} nameOf={nameOf} version={shown} />
        </div>
      </div>
    </>
  );
}

function Head({ place, document, version }: KnownProps & { readonly version: number | null }) {
  const { nameOf } = useNames(place.roomId);
  const { participants, participant_ids, bytes, stored_bytes, versions, seq, updated_at } = document;
  return (
    <>
      <div className="page-head">
        <div>
          <h2>{place.name}</h2>
          <Badge tone={participants > 0 ? "good" : "plain"}>{`${participants} in it now`}</Badge>
          {participants > 0 && <span>{joinNames(participant_ids.map(nameOf), participants)}</span>}
        </div>
        <DocumentActions place={place} version={version} />
      </div>
      <p className="soft">
        {formatSize(bytes)}, {formatSize(stored_bytes)} with its history · sequence {seq.toLocaleString("en")}{" "}
        · {versions.toLocaleString("en")} {versions === 1 ? "version" : "versions"} · last change{" "}
        <Time at={updated_at} />
      </p>
    </>
  );
}

interface DocumentActionsProps {
  readonly place: DocumentPlace;
  readonly version: Chosen;
}

const FORMATS = { update: "Yjs update", text: "Text", json: "JSON of its shared types" };

function DocumentActions({ place: { roomId, name }, version }: DocumentActionsProps) {
  const [, go] = useLocation();
  const download = useAction(
    async ({ documents }, format: string) => {
      const update = await documents.get(roomId, name, version === null ? {} : { version });
      const file = version === null ? name : `${name}-${version}`;
      if (format === "update") {
        saveFile(`${file}.bin`, "application/octet-stream", new Uint8Array(update));
        return;
      }
      const { readUpdate } = await import("./read-document.ts");
      const roots = readUpdate(update);
      if (format === "text") saveFile(`${file}.txt`, "text/plain", textOf(roots));
      else saveFile(`${file}.json`, "application/json", JSON.stringify(jsonOf(roots), null, 2));
    },
    { notifiesErrors: true },
  );
  return (
    <div className="row-actions">
      <DropMenu label="Download" className="button plain" face="Download">
        {Object.entries(FORMATS).map(([format, label]) => (
          <MenuItem key={format} onSelect={() => download.mutate(format)}>
            {label}
          </MenuItem>
        ))}
      </DropMenu>
      <ConfirmAction
        label="Delete…"
        accessibleName={`Delete… ${name}`}
        title={`Delete ${name}?`}
        confirmLabel="Delete document"
        typed={name}
        act={({ documents }) => documents.delete(roomId, name)}
        options={{
          toast: "Document deleted",
          refreshes: [["room", roomId, "documents"]],
          onDone: () => go(`/rooms/${roomId}/documents`, { replace: true }),
        }}
      >
        <p>
          The document is closed for everyone, and deleted with its history and versions. This cannot be
          undone. Clients that are offline create it again with their copy when they come back.
        </p>
      </ConfirmAction>
    </div>
  );
}
