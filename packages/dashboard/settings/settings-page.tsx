/** The settings: API keys, members, quotas, the organization, the person's profile and how they sign in. */
import { EXACTNESS } from "@atrium/contract/resources/quota.ts";
import { useLocation, useParams } from "wouter";
import { AccessSelect, isBan, nameOf } from "../access/access-select.tsx";
import { ME } from "../data/api.ts";
import { useAction, useApiQuery, useCurrent, useIsOwner } from "../data/organization.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Page, Section, Tabs } from "../ui/page.tsx";
import { ApiPart } from "./api-part.tsx";
import { MembersPart } from "./members-part.tsx";
import { ProfilePart } from "./profile-part.tsx";
import { QuotaMeters, useQuotas } from "./quota-meters.tsx";
import { SignInPart } from "./sign-in-part.tsx";

const PARTS = [
  { name: "API keys", path: "", Content: ApiPart },
  { name: "Members", path: "/members", Content: MembersPart },
  { name: "Quotas", path: "/quotas", Content: QuotasPart },
  { name: "Organization", path: "/organization", Content: OrganizationPart },
  { name: "Profile", path: "/profile", Content: ProfilePart },
  { name: "Sign-in", path: "/sign-in", Content: SignInPart },
];

export default function SettingsPage() {
  const { part = "" } = useParams();
  const { Content = ApiPart } = PARTS.find(({ path }) => path === `/${part}`) ?? {};
  return (
    <Page title="Settings">
      <Tabs label="Settings" base="/settings" tabs={PARTS} />
      <div className="parts">
        <Content />
      </div>
    </Page>
  );
}

/** The use and the limit of each quota. */
function QuotasPart() {
  return (
    <Section id="quotas" title="Quotas">
      <Loaded query={useQuotas()}>{({ quotas }) => <QuotaMeters quotas={quotas} />}</Loaded>
      <p className="soft">
        {EXACTNESS} The operator of this service can raise a limit. Read more about{" "}
        <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </Section>
  );
}

function OrganizationPart() {
  const isOwner = useIsOwner();
  const { name } = useCurrent().organization;
  if (isOwner) {
    return (
      <>
        <Name name={name} />
        <DefaultAccess />
        <Deletion name={name} />
      </>
    );
  }
  return (
    <>
      <Section id="organization" title="Organization">
        <p>{name}</p>
        <p className="soft">Only owners can rename or delete the organization.</p>
      </Section>
      <DefaultAccess />
    </>
  );
}

/** The default access of new rooms. */
function DefaultAccess() {
  const isOwner = useIsOwner();
  const query = useApiQuery(["default access"], ({ organization }) => organization.getDefaultAccess());
  return (
    <Section
      id="default-access"
      title="Default access of new rooms"
      about="The access of every identity to a new room. Each room can change it, for groups and identities as well."
    >
      <Loaded query={query}>
        {(granted) =>
          isOwner ? (
            <AccessSelect
              kind="default"
              of="every identity"
              granted={granted}
              save={async ({ organization }, next) => {
                await organization.setDefaultAccess(isBan(next) ? [] : next);
                return {};
              }}
              refreshes={[["default access"]]}
            />
          ) : (
            <p>
              {nameOf(granted)} <span className="soft">· Only owners can change it.</span>
            </p>
          )
        }
      </Loaded>
    </Section>
  );
}

interface NameProps {
  readonly name: string;
}

function Name({ name }: NameProps) {
  const rename = useAction(({ organization }, next: string) => organization.rename(next), {
    toast: "Organization renamed",
    undo: ({ organization }) => organization.rename(name),
    refreshes: [ME],
  });
  return (
    <Section id="organization" title="Organization">
      <Form key={name} submitLabel="Rename" action={rename} toInput={({ name: next = "" }) => next}>
        <NameField defaultValue={name} />
      </Form>
    </Section>
  );
}

function Deletion({ name }: NameProps) {
  const [, go] = useLocation();
  return (
    <Section
      id="deletion"
      title="Delete the organization"
      about="Ends every access at once, for members, API keys and users, and then removes all rooms, users, files, webhooks and workflows. This cannot be undone."
    >
      <div>
        <ConfirmAction
          label="Delete organization"
          variant="danger"
          title={`Delete ${name}?`}
          confirmLabel="Delete organization"
          typed={name}
          act={({ organization }) => organization.delete(name)}
          options={{
            toast: `${name} is being deleted`,
            refreshes: [ME],
            onDone: () => go("~/dashboard"),
          }}
        >
          <p>
            Its API keys stop working, its users are disconnected, and everything that it owns is deleted for
            good: rooms, users, files, webhooks and workflows. You and the other members keep your accounts.
          </p>
        </ConfirmAction>
      </div>
    </Section>
  );
}
