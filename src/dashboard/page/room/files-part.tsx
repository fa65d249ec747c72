/** The files of a room, with an upload area. */
import type { Room, StorageFile } from "atrium/server";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useApiQuery, useCurrent } from "../data/organization.tsx";
import { useNames } from "../live/live.tsx";
import { CopyButton, Icon } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Empty, Paged } from "../ui/feedback.tsx";
import { FilterSelect } from "../ui/fields.tsx";
import { oneByOne, SelectableCards } from "../ui/selectable.tsx";
import { formatSize, Time } from "../ui/time.tsx";
import { UploadArea } from "./upload-area.tsx";

const REFRESH_MS = 5000;

const KINDS = {
  "image/": "Images",
  "audio/": "Sounds",
  "video/": "Videos",
  "text/": "Texts",
  "application/": "Other files",
};

const ORDERS = {
  uploadedAt: "Oldest first",
  filename: "By name",
  "-size": "Largest first",
  size: "Smallest first",
};

export function FilesPart({ room }: { readonly room: Room }) {
  const { atrium } = useCurrent();
  const filters = useFilters();
  const { get, isNarrowed } = filters;
  const { users, nameOf } = useNames(room.id);
  const [kind, userId] = [get("type"), get("by")];
  const query = {
    ...filters.page(["uploadedAt", "filename", "size"]),
    ...{ ...(kind && { mimeType: [kind] }), ...(userId && { userId }) },
  };
  const files = useApiQuery(["room", room.id, "files", query], () => atrium.files.list(room.id, query), {
    refetchInterval: REFRESH_MS,
  });
  const empty = (
    <Empty title={isNarrowed ? "No matching files" : "No files yet"}>
      <p>
        Users upload files of up to 100 MiB with <code>client.storage.upload({"{ file }"})</code>.
      </p>
    </Empty>
  );
  return (
    <section>
      {users && users.length > 0 && <UploadArea room={room} users={users} />}
      {users?.length === 0 && (
        <p className="soft">
          Files belong to a user of the room. <Link href={`/rooms/${room.id}/users`}>Create a user</Link> to
          upload files.
        </p>
      )}
      <div className="filters">
        <FilterSelect label="Filter by type" filters={filters} name="type" all="All types" options={KINDS} />
        <FilterSelect
          label="Filter by user"
          filters={filters}
          name="by"
          all="Files of all users"
          options={Object.fromEntries((users ?? []).map(({ id, name }) => [id, name]))}
        />
        <FilterSelect label="Order" filters={filters} name="sort" all="Newest first" options={ORDERS} />
        <Link className="button plain" href={`/files?room=${room.id}`}>
          Find by name
        </Link>
      </div>
      <Paged query={files} {...{ filters, empty }}>
        {(data) => (
          <SelectableCards
            tag="ul"
            className="files"
            cardClass={() => "file"}
            noun={{ one: "file", many: "files" }}
            items={data.files}
            idOf={({ key }) => key}
            nameOf={({ filename }) => filename}
            selectedName={({ filename }) => filename}
            actions={[
              {
                label: "Delete",
                done: "deleted",
                consequences: "Their URLs stop working. This cannot be undone.",
                isDanger: true,
                run: oneByOne(({ key }) => atrium.files.delete(key)),
              },
            ]}
            refreshes={[["room", room.id, "files"]]}
          >
            {(file, box) => <Card {...{ file, box }} roomId={room.id} uploader={nameOf(file.uploadedBy)} />}
          </SelectableCards>
        )}
      </Paged>
    </section>
  );
}

/** Image types that the service serves inline. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

interface CardProps {
  readonly roomId: string;
  readonly file: StorageFile;
  readonly box: ReactNode;
  readonly uploader: string;
}

/** A file with a preview, where that is safe, and a link to open it. */
function Card({
  roomId,
  file: { key, url, filename, mimeType, size, uploadedAt },
  box,
  uploader,
}: CardProps) {
  // Same-origin, whatever host name the service was reached under.
  const address = new URL(url).pathname;
  return (
    <>
      {box}
      <a href={address} target="_blank" rel="noreferrer" className="preview" aria-label={`Open ${filename}`}>
        {IMAGE_TYPES.has(mimeType) ? <img src={address} alt="" loading="lazy" /> : <Icon name="file" />}
      </a>
      <p className="file-name" title={filename}>
        {filename}
      </p>
      <p className="soft small">
        {formatSize(size)} · {mimeType}
      </p>
      <p className="soft small">
        {uploader}, <Time at={uploadedAt} />
      </p>
      <p className="row-actions">
        <CopyButton text={url} what={`the URL of ${filename}`} />
        <ConfirmAction
          label="Delete"
          accessibleName={`Delete ${filename}`}
          variant="quiet"
          title={`Delete ${filename}?`}
          confirmLabel="Delete file"
          act={({ files }) => files.delete(key)}
          options={{ notice: "File deleted", refreshes: [["room", roomId, "files"]] }}
        >
          <p>Its URL stops working. This cannot be undone.</p>
        </ConfirmAction>
      </p>
    </>
  );
}
