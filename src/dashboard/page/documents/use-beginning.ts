/** The beginning of a document that is too large to be read by a page: the service reads it, without building it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AtriumServer, DocumentContent, SharedTypeName } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import type { DocumentRoot } from "./document-root.ts";
import type { ContentOptions } from "./use-content.ts";
import type { DocumentPlace } from "./use-history.ts";

/** Of each shared type. */
const MAX_CHARACTERS = 200_000;
/** The service reads the document once for each. */
const MAX_TYPES = 5;

export interface Beginning {
  readonly roots: readonly DocumentRoot[];
  readonly isTruncated: boolean;
}

/** While a newer one loads, the one before is shown. */
export function useBeginning(place: DocumentPlace, { version, seq }: Omit<ContentOptions, "isWanted">) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("document beginning", place.roomId, place.name, version ?? "now", version ?? seq),
    queryFn: () => read(atrium, place, version),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

async function read(
  { documents }: Pick<AtriumServer, "documents">,
  { roomId, name }: DocumentPlace,
  version: number | null,
): Promise<Beginning> {
  const preview = (type: Partial<SharedTypeName>) =>
    documents.preview(roomId, name, {
      ...(type.name !== undefined && { root: type.name }),
      ...(type.type !== undefined && { type: type.type }),
      ...(version !== null && { version }),
      maxLength: MAX_CHARACTERS,
    });
  const first = await preview({});
  const shown = first.types.slice(0, MAX_TYPES);
  const contents: [SharedTypeName, DocumentContent][] = [];
  for (const type of shown) contents.push([type, await preview(type)]);
  return {
    roots: contents.map(([type, { content }]) => rootOf(type, content)),
    isTruncated: shown.length < first.types.length || contents.some(([, { truncated }]) => truncated),
  };
}

const rootOf = ({ name, type }: SharedTypeName, content: unknown): DocumentRoot => ({
  name,
  kind: type,
  text: typeof content === "string" ? content : null,
  json: content,
});
