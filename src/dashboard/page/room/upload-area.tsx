/** Uploads files that are dropped or chosen, with progress. */

import { useQueryClient } from "@tanstack/react-query";
import type { Room, User } from "atrium/server";
import { useRef, useState } from "react";
import { toError } from "../data/act-on-several.ts";
import { useCurrent, useKey } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/fields.tsx";

interface UploadAreaProps {
  readonly room: Room;
  readonly users: readonly User[];
}

export function UploadArea({ room, users }: UploadAreaProps) {
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
      >
        {users.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
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
  /** From 0 to 1. */
  readonly progress: number;
  readonly error: Error | null;
  /** Gives it up. */
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
      } catch (error) {
        if (!stop.signal.aborted) change(id, { error: toError(error) });
      }
      await queries.invalidateQueries({ queryKey: key("room", roomId, "files") });
    }
  };
  return { uploads, upload, dismiss };
}
