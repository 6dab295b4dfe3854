"""Text to terms, the same for index, question and evidence; what is special to a language is data, one file each."""
