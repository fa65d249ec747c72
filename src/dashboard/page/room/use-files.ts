/** The files of a room: those that are there, and one on its way. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

const REFRESH_MS = 5000;

export interface FilesQuery {
  readonly limit: number;
  readonly offset: number;
  readonly mimeType?: string[];
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
  return useAct(() => atrium.files.delete(fileKey), {
    done: "File deleted",
    touches: [key("room", roomId, "files")],
    isForm: true,
  });
}

/** A file on its way, or one that did not get there. */
export interface Sending {
  readonly id: number;
  readonly filename: string;
  /** From 0 to 1. */
  readonly share: number;
  readonly error: Error | null;
}

/** Sends files one after the other, in the name of a user of the room. */
export function useUploads(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const [sendings, setSendings] = useState<readonly Sending[]>([]);
  const change = (id: number, part: Partial<Sending>) =>
    setSendings((known) => known.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const dismiss = (id: number) => setSendings((known) => known.filter((one) => one.id !== id));

  const send = async (userId: string, files: readonly File[]) => {
    const first = Math.max(0, ...sendings.map(({ id }) => id)) + 1;
    const added = files.map((file, index) => ({
      id: first + index,
      filename: file.name,
      share: 0,
      error: null,
    }));
    setSendings((known) => [...known, ...added]);
    for (const [index, file] of files.entries()) {
      const id = first + index;
      const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
        change(id, { share: total === 0 ? 1 : Math.min(1, loaded / total) });
      try {
        await atrium.files.upload(roomId, { userId, file, filename: file.name, onProgress });
        dismiss(id);
      } catch (error) {
        change(id, { error: error instanceof Error ? error : new Error(String(error)) });
      }
      await queries.invalidateQueries({ queryKey: key("room", roomId, "files") });
    }
  };
  return { sendings, send, dismiss };
}
