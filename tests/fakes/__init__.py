"""Stand-ins for services outside the project, as real servers."""

# The SDKs take seconds to import, which a call's deadline must not pay for where the machine is busy.
import anthropic as anthropic
import openai as openai
