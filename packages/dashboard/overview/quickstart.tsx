/** The code that connects an application, and the room, user and token that it needs. */
import type { AtriumServer } from "atrium/server";
import { useEffect, useState } from "react";
import { findOrCreateUser, useAction, useCurrent, useIsOwner } from "../data/organization.tsx";
import { Button, CopyButton, ScrollBox } from "../ui/button.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { TabPanels } from "../ui/tab-panels.tsx";
import { type QuickstartKeys, type Snippet, snippetsOf } from "./snippets.ts";

/** `next` names the sample that helps with the next step; the tab that the person has chosen stays. */
export function Quickstart({ next }: { readonly next: "Server" | undefined }) {
  const quickstart = useQuickstart();
  return (
    <Section id="quickstart" title="Connect your application" className="quickstart">
      <TabPanels
        label="Ways to connect"
        initial={next}
        panels={snippetsOf(quickstart.keys).map((snippet) => ({
          name: snippet.name,
          content: <Sample snippet={snippet} quickstart={quickstart} />,
        }))}
      />
    </Section>
  );
}

interface CodeProps {
  readonly text: string;
  readonly language: Snippet["language"];
  readonly what: string;
}

/** A sample in colors, once their module is there. */
function Code({ text, language, what }: CodeProps) {
  const [highlight, setHighlight] = useState<typeof import("./highlight.ts").highlight | null>(null);
  useEffect(() => void import("./highlight.ts").then((loaded) => setHighlight(() => loaded.highlight)), []);
  return (
    <div className="code-block sample">
      <ScrollBox label={what}>
        {highlight === null ? (
          <pre>{text}</pre>
        ) : (
          // biome-ignore lint/security/noDangerouslySetInnerHtml: highlight.js escapes the sample
          <pre dangerouslySetInnerHTML={{ __html: highlight(text, language) }} />
        )}
      </ScrollBox>
      <CopyButton text={text} what={what} />
    </div>
  );
}

interface SampleProps {
  readonly snippet: Snippet;
  readonly quickstart: QuickstartActions;
}

function Sample({ snippet: { name, needs, language, install, text }, quickstart }: SampleProps) {
  const { keys, fillToken, fillKey } = quickstart;
  const isOwner = useIsOwner();
  const mayFill = needs === "token" || isOwner;
  const fill = needs === "token" ? fillToken : fillKey;
  return (
    <>
      {keys[needs] === null && mayFill && (
        <div className="fill">
          <p className="soft">
            {needs === "token"
              ? "The sample needs a user's token. Later your back end creates users; this one is for trying it out, for an hour."
              : "The sample needs an API key, which is shown here once, and a user to put into a room."}
          </p>
          <Button variant="primary" isBusy={fill.isPending} onClick={() => fill.mutate()}>
            {needs === "token" ? "Create a test user" : "Create an API key"}
          </Button>
        </div>
      )}
      {keys[needs] === null && !mayFill && (
        <p className="soft">Replace YOUR_API_KEY with a key that an owner of the organization gives you.</p>
      )}
      <ErrorMessage error={fill.error} />
      {install !== "" && <Code text={install} language="sh" what={`the installation for ${name}`} />}
      <Code text={text} language={language} what={`the ${name} sample`} />
    </>
  );
}

/** Custom ID of the test user, to find it again. */
const CUSTOM_ID = "quickstart";
/** Longest lifetime of tokens that members may create. */
const TOKEN_SECONDS = 60 * 60;

type QuickstartActions = ReturnType<typeof useQuickstart>;

/** The keys of the samples: a room, a test user and an API key, created when the person asks for them. */
function useQuickstart() {
  const { organization } = useCurrent();
  const [keys, setKeys] = useState<QuickstartKeys>({
    serverUrl: location.origin,
    accountId: organization.id,
    roomId: null,
    userId: null,
    token: null,
    apiKey: null,
  });
  const refreshes = [["overview"], ["rooms"], ["keys"]];
  const fillToken = useAction(
    async (atrium) => {
      const user = await findTestUser(atrium);
      setKeys((known) => ({ ...known, ...user }));
    },
    { refreshes },
  );
  const fillKey = useAction(
    async (atrium) => {
      const user = await findTestUser(atrium);
      const { key: apiKey } = await atrium.organization.createKey("Quickstart");
      setKeys((known) => ({ ...known, ...user, apiKey }));
    },
    { refreshes },
  );
  return { keys, fillToken, fillKey };
}

/** A user of the newest room, which is created if there is none. */
async function findTestUser(
  atrium: AtriumServer,
): Promise<Pick<QuickstartKeys, "roomId" | "userId" | "token">> {
  const { rooms } = await atrium.rooms.list({ limit: 1 });
  const roomId = (rooms[0] ?? (await atrium.rooms.create({ name: "My first room" }))).id;
  const { id: userId } = await findOrCreateUser(atrium, { roomId, name: "Ada", customId: CUSTOM_ID });
  const { token } = await atrium.users.createToken(roomId, userId, { ttl: TOKEN_SECONDS });
  return { roomId, userId, token };
}
