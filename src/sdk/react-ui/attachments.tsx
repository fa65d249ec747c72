/** Files that a comment brings along: uploaded as they are chosen, and removed again if they are not sent. */
import { type ReactNode, useRef, useState } from "react";
import type { UploadResult } from "../client/index.ts";
import { useRoom } from "../react/index.ts";
import { isPicture } from "./comment-text.tsx";
import type { AttachedFile } from "./mentions.ts";
import { useTexts } from "./texts.ts";

interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly controller: AbortController;
  readonly percent: number;
  /** Null until it is stored. */
  readonly stored: UploadResult | null;
  readonly url: string;
  readonly error: string | null;
}

export interface Attachments {
  readonly all: readonly Attachment[];
  readonly isUploading: boolean;
  readonly stored: readonly AttachedFile[];
  add(files: readonly File[]): void;
  remove(attachment: Attachment): void;
  /** Forgets all of them: they belong to a comment now. Returns a function that brings them back. */
  release(): () => void;
}

let latestId = 0;

export function useAttachments(): Attachments {
  const { storage } = useRoom().client;
  const texts = useTexts();
  const [all, setAll] = useState<readonly Attachment[]>([]);
  const change = (id: number, part: Partial<Attachment>) =>
    setAll((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const drop = (id: number) => setAll((before) => before.filter((one) => one.id !== id));
  const upload = async (file: File): Promise<void> => {
    latestId += 1;
    const id = latestId;
    const controller = new AbortController();
    setAll((before) => [
      ...before,
      { id, name: file.name, controller, percent: 0, stored: null, url: "", error: null },
    ]);
    try {
      const stored = await storage.upload({
        file,
        signal: controller.signal,
        onProgress: ({ loaded, total }) =>
          change(id, { percent: Math.floor((100 * loaded) / Math.max(1, total)) }),
      });
      change(id, { stored, url: storage.getUrl(stored) });
    } catch (error) {
      if (!controller.signal.aborted) change(id, { error: texts.failed(error as Error) });
    }
  };
  const remove = async ({ id, stored, controller }: Attachment): Promise<void> => {
    controller.abort();
    try {
      if (stored !== null) await storage.delete({ key: stored.key });
      drop(id);
    } catch (error) {
      change(id, { error: texts.failed(error as Error) });
    }
  };
  const fileOf = ({ name, url }: Attachment): readonly AttachedFile[] => (url === "" ? [] : [{ name, url }]);
  return {
    all,
    isUploading: all.some(({ stored, error }) => stored === null && error === null),
    stored: all.flatMap(fileOf),
    add: (files) => {
      for (const file of files) void upload(file);
    },
    remove: (attachment) => void remove(attachment),
    release: () => {
      setAll([]);
      return () => setAll((since) => [...all, ...since]);
    },
  };
}

export function AttachButton({ add }: Pick<Attachments, "add">): ReactNode {
  const texts = useTexts();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="atrium-icon"
        aria-label={texts.attach}
        title={texts.attach}
        onClick={() => input.current?.click()}
      >
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
          <path d="M14.5 8.5l-5.6 5.6a3.3 3.3 0 0 1-4.7-4.7l6-6a2.2 2.2 0 0 1 3.1 3.1l-6 6a1 1 0 0 1-1.5-1.5l5.3-5.3" />
        </svg>
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={texts.attach}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          target.value = ""; // the same file can be chosen again
        }}
      />
    </>
  );
}

export function AttachmentList({ all, remove }: Pick<Attachments, "all" | "remove">): ReactNode {
  const texts = useTexts();
  if (all.length === 0) return null;
  return (
    <ul className="atrium-attachments">
      {all.map((attachment) => {
        const { id, name, stored, url, percent, error } = attachment;
        return (
          <li key={id}>
            {stored && isPicture(attachment) && <img src={url} alt="" />}
            <span>{stored || error ? name : texts.uploading(name, percent)}</span>
            <button
              type="button"
              className="atrium-icon"
              aria-label={texts.remove(name)}
              onClick={() => remove(attachment)}
            >
              ×
            </button>
            {error !== null && (
              <span role="alert" className="atrium-error">
                {error}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
