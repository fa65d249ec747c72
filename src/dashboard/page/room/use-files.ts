/** Queries, uploads and deletion of the files of a room. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FileSort, StorageFile } from "atrium/server";
import { useState } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import type { BulkAction } from "../ui/several.tsx";

const REFRESH_MS = 5000;

export interface FilesQuery extends FileSort {
  readonly limit: number;
  readonly offset: number;
  readonly mimeType?: string[];
  readonly userId?: string;
}

export function useFiles(roomId: string, query: FilesQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "files", query),
    queryFn: () => atrium.files.list(roomId, query),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export function useDeleteFile(roomId: string, fileKey: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.files.delete(fileKey), {
    notice: "File deleted",
    invalidates: [key("room", roomId, "files")],
    isForm: true,
  });
}

/** What can be done with several files. */
export function useFileActions(): readonly BulkAction<StorageFile>[] {
  const { files } = useCurrent().atrium;
  return [
    {
      label: "Delete",
      done: "deleted",
      consequences: "Their URLs stop working. This cannot be undone.",
      isDanger: true,
      run: oneByOne((file) => files.delete(file.key)),
    },
  ];
}

/** A file that is uploading or has failed to. */
export interface PendingUpload {
  readonly id: number;
  readonly filename: string;
  /** From 0 to 1. */
  readonly progress: number;
  readonly error: Error | null;
  /** Gives it up. */
  readonly cancel: () => void;
}

/** Uploads files one after the other, on behalf of a user of the room. */
export function useUploads(roomId: string) {
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
        if (!stop.signal.aborted)
          change(id, { error: error instanceof Error ? error : new Error(String(error)) });
      }
      await queries.invalidateQueries({ queryKey: key("room", roomId, "files") });
    }
  };
  return { uploads, upload, dismiss };
}
