/** The address of the reader, as the default pages show it. */
export const EMAIL = `<strong>{{ \${email_address} }}</strong>`;
