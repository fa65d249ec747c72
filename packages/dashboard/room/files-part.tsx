/** The files of a room, with an upload area. */

import { useQueryClient } from "@tanstack/react-query";
import type { Room, StorageFile, User } from "atrium/server";
import { type ReactNode, useRef, useState } from "react";
import { Link } from "wouter";
import { toError } from "../data/act-on-several.ts";
import { useFilters } from "../data/filters.ts";
import { useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { notify } from "../data/toasts.ts";
import { useNames } from "../live/live.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { Button, CopyButton, Icon } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Empty, Paged } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FilterSelect } from "../ui/list-filters.tsx";
import { SelectableCards } from "../ui/selectable.tsx";
import { formatSize, Time } from "../ui/time.tsx";

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
  const { get } = filters;
  const { users, nameOf } = useNames(room.id);
  const [kind, userId] = [get("type"), get("by")];
  const query = {
    ...filters.page(["uploadedAt", "filename", "size"]),
    ...{ ...(kind && { mimeType: [kind] }), ...(userId && { userId }) },
  };
  const files = useApiQuery(["room", room.id, "files", query], () => atrium.files.list(room.id, query), {
    refetchInterval: REFRESH_MS,
  });
  const form = [`roomId=${room.id}`, `userId=${users?.[0]?.id ?? "USER_ID"}`, "file=@plan.png"];
  const empty = (
    <Empty filters={filters} title="No files yet" create="Upload a file" command={["POST", "/upload", form]}>
      Users upload files of up to 100 MiB.
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
          options={{ toast: "File deleted", refreshes: [["room", roomId, "files"]] }}
        >
          <p>Its URL stops working. This cannot be undone.</p>
        </ConfirmAction>
      </p>
    </>
  );
}

interface UploadAreaProps {
  readonly room: Room;
  readonly users: readonly User[];
}

function UploadArea({ room, users }: UploadAreaProps) {
  const { uploads, upload, dismiss } = useUploads(room.id);
  const [chosen, setChosen] = useState("");
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const userId = chosen || users[0]?.id || "";
  if (room.state === "closed") return <p className="soft">The room is closed. Reopen it to upload files.</p>;
  return (
    <section
      aria-label="Upload"
      className={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void upload(userId, [...event.dataTransfer.files]);
      }}
    >
      <p>Drop files here, or</p>
      <Button icon="upload" data-shortcut="new" onClick={() => input.current?.click()}>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          void upload(userId, [...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <SelectField
        label="Upload as"
        value={userId}
        onChange={(event) => setChosen(event.currentTarget.value)}
        options={users.map(({ id, name }) => [id, name])}
      />
      {uploads.map((pending) => (
        <Progress key={pending.id} upload={pending} onDismiss={() => dismiss(pending.id)} />
      ))}
    </section>
  );
}

interface ProgressProps {
  readonly upload: PendingUpload;
  readonly onDismiss: () => void;
}

const Progress = ({ upload: { filename, progress, error, cancel }, onDismiss }: ProgressProps) => (
  <div className="upload" role="status">
    <span>{filename}</span>
    {error === null ? (
      <>
        <progress value={progress} aria-label={`Upload of ${filename}`} />
        <span className="soft small">{Math.floor(progress * 100)} %</span>
        <Button variant="quiet" aria-label={`Cancel the upload of ${filename}`} onClick={cancel}>
          Cancel
        </Button>
      </>
    ) : (
      <>
        <span className="bad-text">{error.message}</span>
        <Button variant="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      </>
    )}
  </div>
);

/** A file that is uploading or has failed to. */
interface PendingUpload {
  readonly id: number;
  readonly filename: string;
  /** Fraction, from 0 to 1. */
  readonly progress: number;
  readonly error: Error | null;
  /** Cancels the upload. */
  readonly cancel: () => void;
}

/** Uploads files one after the other, on behalf of a user of the room. */
function useUploads(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly PendingUpload[]>([]);
  const change = (id: number, part: Partial<PendingUpload>) =>
    setUploads((known) => known.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const dismiss = (id: number) => setUploads((known) => known.filter((one) => one.id !== id));

  const upload = async (userId: string, files: readonly File[]) => {
    const first = Math.max(0, ...uploads.map(({ id }) => id)) + 1;
    const waiting = files.map((file, index) => ({ id: first + index, file, stop: new AbortController() }));
    const added = waiting.map(({ id, file, stop }) => ({
      id,
      filename: file.name,
      progress: 0,
      error: null,
      cancel: () => {
        stop.abort();
        dismiss(id);
      },
    }));
    setUploads((known) => [...known, ...added]);
    for (const { id, file, stop } of waiting) {
      if (stop.signal.aborted) continue;
      const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
        change(id, { progress: total === 0 ? 1 : Math.min(1, loaded / total) });
      try {
        const { signal } = stop;
        await atrium.files.upload(roomId, { userId, file, filename: file.name, onProgress, signal });
        dismiss(id);
        notify({ title: `${file.name} uploaded` });
      } catch (error) {
        if (!stop.signal.aborted) change(id, { error: toError(error) });
      }
      await queries.invalidateQueries({ queryKey: key("room", roomId, "files") });
    }
  };
  return { uploads, upload, dismiss };
}
