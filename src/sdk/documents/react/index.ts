/** `atrium/documents/react`: the hook for a document of the room. */
"use client";

export type { RoomDocument } from "./shared-document.ts";
export { useDocument } from "./use-document.ts";
