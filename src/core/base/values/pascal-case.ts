/** The words of a name in Pascal case: `subscription_groups` gives `SubscriptionGroups`, `API key` gives `ApiKey`. */
export const pascalCase = (name: string): string =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join("");
