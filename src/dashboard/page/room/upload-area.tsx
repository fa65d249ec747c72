/** Uploads files that are dropped or chosen, with progress. */
import type { Room, User } from "atrium/server";
import { useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/fields.tsx";
import { type PendingUpload, useUploads } from "./use-files.ts";

export interface UploadAreaProps {
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
