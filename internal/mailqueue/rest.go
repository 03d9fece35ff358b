package mailqueue

const basePath = "/rest/mailqueue/1.0"

// StatusPath is where a server of this API gives the sizes of its node.
const StatusPath = basePath + "/status"
