/** `ConnectionStatus`: whether the room is connected, and whether changes wait to be sent. */
import type { ReactNode } from "react";
import { useConnection, useHasUnsyncedChanges } from "../react/index.ts";
import { type Texts, useTexts } from "./texts.ts";

const TEXTS = {
  connected: "connected",
  connecting: "connecting",
  reconnecting: "reconnecting",
  closed: "disconnected",
} as const satisfies Record<string, keyof Texts>;

/** Screen readers announce the state, and not each change that is saved. */
export function ConnectionStatus(): ReactNode {
  const texts = useTexts();
  const { state, error } = useConnection();
  const isUnsynced = useHasUnsyncedChanges();
  return (
    <p className="atrium atrium-status" data-state={state}>
      <span role="status">{error === null ? texts[TEXTS[state]] : texts.failed(error)}</span>
      {isUnsynced && <small>{state === "connected" ? texts.saving : texts.waiting}</small>}
    </p>
  );
}
