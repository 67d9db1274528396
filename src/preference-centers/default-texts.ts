import type { CenterTranslations } from "./center.ts";

/* The texts of the default pages in other languages, by the ids of their translation tags. */

const EMAIL = `<strong>{{ \${email_address} }}</strong>`;

export const DEFAULT_TEXTS: CenterTranslations = {
  de: {
    preference_center_title: "Einstellungen",
    heading: "Was möchten Sie von uns hören?",
    for_whom: `Diese Einstellungen gelten für ${EMAIL}.`,
    no_mail:
      "Sie haben alle E-Mails von uns abbestellt. Ihre Auswahl gilt, sobald Sie wieder welche möchten.",
    resubscribe: "Wieder E-Mails erhalten",
    email: "E-Mail",
    sms: "SMS",
    save: "Auswahl speichern",
    unsubscribe: "Alle E-Mails abbestellen",
    saved: "Ihre Auswahl ist gespeichert",
    saved_now: "Sie gilt ab sofort und lässt sich jederzeit ändern.",
    no_mail_now: "Sie erhalten keine E-Mails mehr von uns.",
    on: "Abonniert",
    off: "Nicht abonniert",
    back: "Etwas ändern",
  },
  es: {
    preference_center_title: "Preferencias",
    heading: "Elige qué quieres recibir",
    for_whom: `Estas son las preferencias de ${EMAIL}.`,
    no_mail:
      "Ya no recibes nuestros correos. Lo que elijas abajo valdrá cuando quieras recibirlos de nuevo.",
    resubscribe: "Volver a recibir correos",
    email: "Correo electrónico",
    sms: "Mensaje de texto",
    save: "Guardar mis preferencias",
    unsubscribe: "Darme de baja de todos los correos",
    saved: "Tus preferencias están guardadas",
    saved_now: "Ya están en vigor. Puedes cambiarlas cuando quieras.",
    no_mail_now: "No recibirás más correos nuestros.",
    on: "Activado",
    off: "Desactivado",
    back: "Cambiar algo",
  },
  fr: {
    preference_center_title: "Préférences",
    heading: "Choisissez ce que vous recevez",
    for_whom: `Voici les préférences de ${EMAIL}.`,
    no_mail:
      "Vous ne recevez plus nos e-mails. Vos choix ci-dessous vaudront dès que vous en voudrez à nouveau.",
    resubscribe: "Recevoir à nouveau des e-mails",
    email: "E-mail",
    sms: "SMS",
    save: "Enregistrer mes choix",
    unsubscribe: "Me désabonner de tous les e-mails",
    saved: "Vos choix sont enregistrés",
    saved_now: "Ils valent dès maintenant. Vous pouvez les modifier à tout moment.",
    no_mail_now: "Vous ne recevrez plus d’e-mails de notre part.",
    on: "Activé",
    off: "Désactivé",
    back: "Modifier quelque chose",
  },
};
