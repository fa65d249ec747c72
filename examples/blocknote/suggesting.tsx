/** The editor with a button that suggests changes, and the panel in which they are reviewed. */
import { useRoomPermissions, useSuggestions } from "atrium/react";
import { Suggestions } from "atrium/react-ui";
import { type ReactNode, useEffect, useState } from "react";
import type { WebsocketProvider } from "y-websocket";
import { say } from "./page.ts";

interface SuggestingProps {
  readonly document: string;
  /** The title of this person's suggestions. */
  readonly title: string;
  readonly open: (name: string) => WebsocketProvider;
  readonly children: (provider: WebsocketProvider, isEditable: boolean) => ReactNode;
}

export function Suggesting({ document, title, open, children }: SuggestingProps) {
  const [{ suggestions, isLoading }, { create }] = useSuggestions(document);
  const { canWrite, permissions } = useRoomPermissions();
  /** The suggestion's fork that the editor shows; null for the document itself. */
  const [fork, setFork] = useState<string | null>(null);
  const [provider, setProvider] = useState(() => open(document));
  const show = (next: string | null) => {
    provider.destroy();
    setFork(next);
    setProvider(open(next ?? document));
  };
  const isOpen = suggestions.some((each) => each.fork === fork && each.status === "pending");
  useEffect(() => {
    if (fork !== null && !isLoading && !isOpen) show(null); // it was reviewed
  });
  const maySuggest = canWrite("documents") || permissions.includes("documents:suggest");
  const press = async () => {
    try {
      show(fork === null ? (await create({ title })).fork : null);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {maySuggest && (
        <button id="suggest" type="button" onClick={press}>
          {fork === null ? "Suggest changes" : "Done"}
        </button>
      )}
      {children(provider, fork !== null || canWrite("documents"))}
      <Suggestions document={document} type="xml" />
    </>
  );
}
