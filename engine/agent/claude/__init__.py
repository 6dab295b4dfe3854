"""The steps of a search on a language model: one structured call each, with the offline steps behind them."""
