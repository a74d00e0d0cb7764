"""Encoders, decoders and attention, each usable by itself.

Names of dimensions, here and everywhere: `B` batch, `S` source length, `T` target length,
`E` embedding, `H` hidden, `V` vocabulary, `L` layers, `A` rows of attention, `Q` queries,
`K` keys. Masks are True for real tokens.
"""
