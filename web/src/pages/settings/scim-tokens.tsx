import { MultiSelect, TextInput } from "@mantine/core";
import { type NewScimToken, useChangeScimTokens, useScimTokens } from "../../api/credentials.ts";
import { FormDialog, required } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { Credentials } from "./credentials.tsx";

type CompanyPermission = NonNullable<NewScimToken["company_permissions"]>[number];

const COMPANY_PERMISSIONS: CompanyPermission[] = [
  "admin",
  "manage_company_settings",
  "add_remove_app_groups",
];

export function ScimTokens() {
  const tokens = useScimTokens();
  const change = useChangeScimTokens();
  return (
    <Loaded from={tokens}>
      {({ scim_tokens }) => (
        <Credentials
          noun="SCIM token"
          title="SCIM tokens"
          action="Create a SCIM token"
          about="An identity provider creates and removes dashboard users with such a token."
          scopeTitle="Service origin"
          list={scim_tokens.map(({ previous_token_until, service_origin, ...token }) => ({
            ...token,
            previousUntil: previous_token_until,
            scope: service_origin,
          }))}
          needs={{ company: "admin" }}
          rotate={change.rotate}
          revoke={change.revoke}
          create={(created) => (
            <FormDialog
              title="Create a SCIM token"
              action="Create"
              initial={{
                name: "",
                service_origin: "",
                company_permissions: ["manage_company_settings"] as CompanyPermission[],
              }}
              validate={{ name: required, service_origin: required }}
              save={async (token) => created(await change.create(token))}
            >
              {(form) => (
                <>
                  <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
                  <TextInput
                    label="Service origin"
                    description="The provider's X-Request-Origin, such as okta."
                    {...form.getInputProps("service_origin")}
                  />
                  <MultiSelect
                    label="May grant in the company"
                    description="With admin, anyone with the token can become an administrator."
                    data={COMPANY_PERMISSIONS}
                    {...form.getInputProps("company_permissions")}
                  />
                </>
              )}
            </FormDialog>
          )}
        />
      )}
    </Loaded>
  );
}
