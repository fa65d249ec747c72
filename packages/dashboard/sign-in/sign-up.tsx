/** The sign-up page, which also creates an organization. */

import type { SignUpPolicy } from "@atrium/contract/rest/people.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { callDashboard, useSignInRequest } from "../data/api.ts";
import { Loaded } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField, NewPasswordField, SignInLayout } from "./credentials.tsx";

export default function SignUp() {
  const policy = useQuery({
    queryKey: ["sign-up"],
    queryFn: () => callDashboard<SignUpPolicy>("GET", "sign-up"),
  });
  return (
    <SignInLayout title="Sign up">
      <Loaded query={policy}>
        {(data) =>
          data.type === "invite" ? (
            <p>
              Sign-up is by invitation only. Ask a member of your organization for an invitation, and open its
              link.
            </p>
          ) : (
            <SignUpForm domains={data.type === "domains" ? data.domains : null} />
          )
        }
      </Loaded>
      <p className="soft">
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </p>
    </SignInLayout>
  );
}

interface SignUpFormProps {
  /** The token of an invitation; without one, the person creates an organization. */
  readonly invitation?: string;
  /** Null for addresses of any domain. */
  readonly domains?: readonly string[] | null;
}

export function SignUpForm({ invitation, domains = null }: SignUpFormProps) {
  const [, go] = useLocation();
  const signUp = useSignInRequest("sign-up", () => go("/"));
  const isInvited = invitation !== undefined;
  return (
    <Form
      submitLabel={isInvited ? "Sign up and join" : "Sign up"}
      action={signUp}
      toInput={(fields) => (isInvited ? { ...fields, invitation } : fields)}
    >
      <NameField label="Your name" autoComplete="name" autoFocus={!isInvited} />
      <EmailField
        {...(domains !== null && {
          hint: `An address of ${domains.join(", ")}. For others, you need an invitation.`,
        })}
      />
      <NewPasswordField />
      {!isInvited && (
        <NameField
          label="Organization"
          name="organization"
          autoComplete="organization"
          hint="Owns your rooms. You can invite members and create more organizations later."
        />
      )}
      <Challenge error={signUp.error} />
    </Form>
  );
}
