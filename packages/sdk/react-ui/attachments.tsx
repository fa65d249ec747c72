/** Files that a comment brings along: uploaded as they are chosen, and removed again if they are not sent. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { UploadResult } from "../client/index.ts";
import { report } from "../core/emitter.ts";
import { useRoom } from "../react/index.ts";
import { isPicture } from "./comment-text.tsx";
import { lineOf } from "./text-parts.ts";
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
  /** Lines of the stored files. */
  readonly lines: readonly string[];
  add(files: readonly File[]): void;
  remove(attachment: Attachment): void;
  /** Forgets all attachments, which belong to a comment now. Returns a function that brings them back. */
  release(): () => void;
}

let latestId = 0;

export function useAttachments(): Attachments {
  const { storage } = useRoom().client;
  const texts = useTexts();
  const [all, setAll] = useState<readonly Attachment[]>([]);
  /** The attachments of the form now; none once it has left the page. */
  const latest = useRef(all);
  const set = (next: readonly Attachment[]) => {
    latest.current = next;
    setAll(next);
  };
  const find = (id: number) => latest.current.find((one) => one.id === id);
  const change = (id: number, part: Partial<Attachment>) =>
    set(latest.current.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const drop = (id: number) => set(latest.current.filter((one) => one.id !== id));
  const upload = async (file: File): Promise<void> => {
    latestId += 1;
    const id = latestId;
    const controller = new AbortController();
    const { name } = file;
    set([...latest.current, { id, name, controller, percent: 0, stored: null, url: "", error: null }]);
    try {
      const stored = await storage.upload({
        file,
        signal: controller.signal,
        onProgress: ({ loaded, total }) =>
          change(id, { percent: Math.floor((100 * loaded) / Math.max(1, total)) }),
      });
      if (find(id) === undefined) await storage.delete(stored);
      else change(id, { stored, url: storage.getUrl(stored) });
    } catch (error) {
      if (!controller.signal.aborted) change(id, { error: texts.failed(error as Error) });
    }
  };
  const remove = async (id: number): Promise<void> => {
    const { stored } = find(id) ?? {};
    try {
      if (stored) await storage.delete(stored);
      else stop(find(id));
      drop(id);
    } catch (error) {
      change(id, { error: texts.failed(error as Error) });
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `set` is the same in effect
  useEffect(() => {
    const discard = () => {
      const unsent = latest.current;
      set([]);
      for (const attachment of unsent) {
        stop(attachment);
        if (attachment.stored) storage.delete(attachment.stored).catch(report);
      }
    };
    const leave = ({ persisted }: PageTransitionEvent) => persisted || discard(); // else it may be shown again
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      discard();
    };
  }, [storage]);
  return {
    all,
    isUploading: all.some(({ stored, error }) => stored === null && error === null),
    lines: all.flatMap(({ stored, name, url }) => (stored ? lineOf(name, url) : [])),
    add: (files) => {
      for (const file of files) void upload(file);
    },
    remove: ({ id }) => void remove(id),
    release: () => {
      set([]);
      return () => set([...all, ...latest.current]);
    },
  };
}

/** Ends an upload. A file that was sent whole may be stored all the same, and is deleted once that is known. */
function stop(attachment: Attachment | undefined): void {
  if (attachment && attachment.percent < 100) attachment.controller.abort();
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
