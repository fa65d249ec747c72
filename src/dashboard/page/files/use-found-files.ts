/** The query for files of all rooms, or of one. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { FileSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

const REFRESH_MS = 15_000;

export interface FoundFilesQuery extends FileSearch {
  readonly limit: number;
  readonly after?: string;
}

export function useFoundFiles(query: FoundFilesQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("files", query),
    queryFn: () => atrium.files.find(query),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
