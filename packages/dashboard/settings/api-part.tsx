/** The data for a back end: the account ID, API keys, an end for users' tokens, and a first request. */

import type { ApiKey, ApiKeyNarrowing, AtriumServer, KeySearch } from "atrium/server";
import { curlOf } from "../data/curl.ts";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent, useIsOwner } from "../data/organization.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { CodeBlock, Identifier } from "../ui/button.tsx";
import { ConfirmAction, Secret } from "../ui/dialog.tsx";
import { Empty } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { NAMED, SelectablePage } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { OptionalTime, Time } from "../ui/time.tsx";
import { Allowed, isNarrowed, NarrowingFields, narrowingIn } from "./narrowing.tsx";

type NewApiKey = Awaited<ReturnType<AtriumServer["organization"]["createKey"]>>;

const useKeys = (page: KeySearch) =>
  useApiQuery(["keys", page], ({ organization }) => organization.listKeys(page));

export function ApiPart() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  return (
    <>
      <Section id="account-id" title="Account ID">
        <Identifier value={organization.id} what="the account ID" isWhole />
      </Section>
      <Keys />
      {isOwner && <TokenEnding />}
    </>
  );
}

/** A `curl` command that creates a room or, with a narrowed key, reads the comments of one. */
function firstRequest({ api_key, key: apiKey }: NewApiKey): string {
  const account = { serverUrl: location.origin, accountId: api_key.account_id, apiKey };
  return isNarrowed(api_key)
    ? curlOf(account, ["GET", "/rooms/ROOM_ID/comments"])
    : curlOf(account, ["POST", "/rooms", { name: "My first room" }]);
}

function Keys() {
  const { organization } = useCurrent().atrium;
  const isOwner = useIsOwner();
  const filters = useFilters();
  const keys = useKeys(filters.page(["name", "created_at", "last_used_at"]));
  const columns: readonly Column<ApiKey>[] = [
    { label: "Name", sort: "name", cell: ({ name }) => name },
    {
      label: "Key",
      cell: ({ prefix, last_four }) => (
        <code>
          {prefix}…{last_four}
        </code>
      ),
    },
    { label: "May do", cell: (key) => <Allowed of={key} /> },
    { label: "Created", sort: "created_at", cell: ({ created_at }) => <Time at={created_at} /> },
    {
      label: "Last used",
      sort: "last_used_at",
      cell: ({ last_used_at }) => <OptionalTime at={last_used_at} />,
    },
    {
      label: "Actions",
      className: "row-actions",
      cell: ({ id, name }) =>
        isOwner && (
          <ConfirmAction
            label="Revoke"
            accessibleName={`Revoke ${name}`}
            variant="quiet"
            title={`Revoke ${name}?`}
            confirmLabel="Revoke key"
            act={(atrium) => atrium.organization.revokeKey(id)}
            options={{ toast: "API key revoked", refreshes: [["keys"]] }}
          >
            <p>
              Requests with this key fail within 10 seconds, and what it made ends: API keys, invitations and
              links for a new password. This cannot be undone.
            </p>
          </ConfirmAction>
        ),
    },
  ];
  const empty = (
    <Empty
      title="No API keys yet"
      create={isOwner ? "Create a key" : undefined}
      command={["POST", "/api-keys", { name: "Back end" }]}
    >
      Your back end needs one to call the API. With a key, it can create others itself.
    </Empty>
  );
  return (
    <Section id="keys" title="API keys" beside={isOwner && <NewKey />}>
      {!isOwner && <p className="soft">Only owners can create and revoke API keys.</p>}
      <SelectablePage
        label="List of API keys"
        noun={{ one: "API key", many: "API keys" }}
        query={keys}
        itemsOf={(data) => data.api_keys}
        {...NAMED}
        isSelectable={() => isOwner}
        {...{ columns, filters, empty }}
        actions={[
          {
            label: "Revoke",
            done: "revoked",
            consequences: "Requests with these keys fail within 10 seconds. This cannot be undone.",
            isDanger: true,
            run: oneByOne(({ id }) => organization.revokeKey(id)),
          },
        ]}
        refreshes={[["keys"]]}
      />
    </Section>
  );
}

/** Creates an API key and shows it once, with a request to try it. */
function NewKey() {
  const create = useAction(
    async (atrium, { name, narrowing }: { readonly name: string; readonly narrowing: ApiKeyNarrowing }) => {
      if (narrowing.permissions?.length === 0) throw new Error("Choose at least one level");
      return atrium.organization.createKey(name, narrowing);
    },
    { refreshes: [["keys"]] },
  );
  const made = create.data;
  return (
    <>
      <FormDialog
        button={{ variant: "primary", icon: "plus", "data-shortcut": "new", children: "New API key" }}
        title="New API key"
        submitLabel="Create key"
        action={create}
        toInput={({ name = "", ...values }) => ({ name, narrowing: narrowingIn(values) })}
      >
        <NameField hint="Where you use it, such as Back end." />
        <NarrowingFields />
      </FormDialog>
      <Secret
        title="Your new API key"
        about={`It gives ${made && isNarrowed(made.api_key) ? "access to rooms" : "full access to the organization"}, so keep it on your servers. You will not see it again.`}
        secret={made?.key ?? null}
        what="the API key"
        onDone={create.reset}
      >
        {made && <CodeBlock what="Your first request" text={firstRequest(made)} />}
      </Secret>
    </>
  );
}

const TokenEnding = () => (
  <Section
    id="tokens"
    title="User tokens"
    beside={
      <ConfirmAction
        label="End all user tokens"
        title="End all user tokens?"
        confirmLabel="End tokens"
        act={({ organization }) => organization.endAllTokens()}
        options={{ toast: "All user tokens ended", refreshes: [["room"]] }}
      >
        <p>
          All users of all rooms are disconnected, and need a new token to join again. This cannot be undone.
        </p>
      </ConfirmAction>
    }
  >
    <p className="soft">End the tokens of all users, for example after a leak.</p>
  </Section>
);
