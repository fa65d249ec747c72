/** Takes files that are dropped on it, or chosen, and shows how far they have got. */
import type { Room, User } from "atrium/server";
import { useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { type Sending, useUploads } from "./use-files.ts";

export interface UploadAreaProps {
  readonly room: Room;
  readonly users: readonly User[];
}

export function UploadArea({ room, users }: UploadAreaProps) {
  const { sendings, send, dismiss } = useUploads(room.id);
  const [chosen, setChosen] = useState("");
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const userId = chosen || users[0]?.id || "";
  if (room.state === "closed") return <p className="soft">The room is closed: it takes no files.</p>;
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
        void send(userId, [...event.dataTransfer.files]);
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
          void send(userId, [...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <SelectField
        label="In the name of"
        value={userId}
        onChange={(event) => setChosen(event.currentTarget.value)}
      >
        {users.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {sendings.map((sending) => (
        <Progress key={sending.id} sending={sending} onDismiss={() => dismiss(sending.id)} />
      ))}
    </section>
  );
}

interface ProgressProps {
  readonly sending: Sending;
  readonly onDismiss: () => void;
}

const Progress = ({ sending: { filename, share, error }, onDismiss }: ProgressProps) => (
  <div className="sending" role="status">
    <span>{filename}</span>
    {error === null ? (
      <progress value={share} aria-label={`Upload of ${filename}`} />
    ) : (
      <>
        <span className="bad-text">{error.message}</span>
        <Button look="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      </>
    )}
  </div>
);
