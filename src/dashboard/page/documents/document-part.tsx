/** One document: what it says, now and in each version, who wrote it, and what can be done with it. */
import type { DocumentDetails } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { JoinBar } from "../live/join-bar.tsx";
import { useNames } from "../live/use-names.ts";
import { Button } from "../ui/button.tsx";
import { Badge, Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { formatSize } from "../ui/size.ts";
import { Time } from "../ui/time.tsx";
import { DocumentActions } from "./document-actions.tsx";
import { Preview } from "./preview.tsx";
import { Trail } from "./trail.tsx";
import { joinNames, useAuthorNames } from "./use-author-names.ts";
import { useChoice } from "./use-choice.ts";
import { useDocument } from "./use-documents.ts";
import { type DocumentPlace, useFreshHistory, useVersions } from "./use-history.ts";
import { NewVersion, VersionActions } from "./version-actions.tsx";
import { VersionList } from "./version-list.tsx";
import { VersionSlider } from "./version-slider.tsx";

export default function DocumentPart(place: DocumentPlace) {
  const address = useAddress();
  const { data: document, error, refetch } = useDocument(place.roomId, place.name);
  if (document === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  return (
    <section aria-label={`Document ${place.name}`}>
      <p className="above">
        <Link href={address(`/rooms/${place.roomId}/documents`)}>Documents</Link>
      </p>
      <ErrorMessage error={error} />
      {document === null ? <NoDocument name={place.name} /> : <Known place={place} document={document} />}
    </section>
  );
}

const NoDocument = ({ name }: { readonly name: string }) => (
  <Empty title={`There is no document ${name}`}>
    <p>It was deleted, or no one has written in it yet. It appears here with its first change.</p>
  </Empty>
);

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
  return (
    <>
      <Head place={place} document={document} version={choice.version} />
      <JoinBar />
      <div className="document-columns">
        <div className="document-main">
          <div className="version-bar">
            <VersionSlider versions={versions} chosen={choice.version} onChoose={choice.choose} />
            {shown === undefined ? (
              <NewVersion place={place} />
            ) : (
              <VersionActions place={place} version={shown} onLeave={() => choice.choose(null)} />
            )}
          </div>
          <Preview
            place={place}
            document={document}
            choice={choice}
            versions={versions}
            authorName={nameOf}
          />
        </div>
        <div className="document-side">
          <section aria-labelledby="versions">
            <h3 id="versions">Versions</h3>
            <ErrorMessage error={error} onRetry={refetch} />
            {data === undefined && !error && <Loading />}
            {data !== undefined && versions.length === 0 && <NoVersions />}
            {versions.length > 0 && (
              <VersionList {...{ versions, nameOf }} chosen={choice.version} onChoose={choice.choose} />
            )}
            {hasNextPage && (
              <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
                Older versions
              </Button>
            )}
          </section>
          <Trail place={place} nameOf={nameOf} version={shown} />
        </div>
      </div>
    </>
  );
}

const NoVersions = () => (
  <p className="soft">
    There are none yet. The room makes one before the first change after two minutes of quiet, and after five
    minutes of editing; or name the document as it is.
  </p>
);

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
