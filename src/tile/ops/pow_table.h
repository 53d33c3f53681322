/* SPDX-License-Identifier: Apache-2.0
 *
 * The constants of glibc's powf, which txm_pow_positive reproduces. They come from Arm Optimized Routines (Copyright
 * (c) 2017-2018 Arm Limited, offered as MIT or Apache-2.0 WITH LLVM-exception). They are macros because each back-end
 * has arrays of its own: host, GPU, vectors.
 */
#ifndef TXM_OPS_POW_TABLE_H
#define TXM_OPS_POW_TABLE_H

/* The intervals begin at this float (0.699) and end at twice it; the table has 1/c and log2(c) of each, for a c near
 * its middle. */
#define TXM_POW_LOG2_BEGIN 0x3F330000u
#define TXM_POW_LOG2_TABLE                                                                                             \
    {                                                                                                                  \
        {0x1.661ec79f8f3bep+0, -0x1.efec65b963019p-2}, {0x1.571ed4aaf883dp+0, -0x1.b0b6832d4fca4p-2},                  \
            {0x1.49539f0f010bp+0, -0x1.7418b0a1fb77bp-2}, {0x1.3c995b0b80385p+0, -0x1.39de91a6dcf7bp-2},               \
            {0x1.30d190c8864a5p+0, -0x1.01d9bf3f2b631p-2}, {0x1.25e227b0b8eap+0, -0x1.97c1d1b3b7afp-3},                \
            {0x1.1bb4a4a1a343fp+0, -0x1.2f9e393af3c9fp-3}, {0x1.12358f08ae5bap+0, -0x1.960cbbf788d5cp-4},              \
            {0x1.0953f419900a7p+0, -0x1.a6f9db6475fcep-5}, {0x1p+0, 0x0p+0},                                           \
            {0x1.e608cfd9a47acp-1, 0x1.338ca9f24f53dp-4}, {0x1.ca4b31f026aap-1, 0x1.476a9543891bap-3},                 \
            {0x1.b2036576afce6p-1, 0x1.e840b4ac4e4d2p-3}, {0x1.9c2d163a1aa2dp-1, 0x1.40645f0c6651cp-2},                \
            {0x1.886e6037841edp-1, 0x1.88e9c2c1b9ff8p-2},                                                              \
        {                                                                                                              \
            0x1.767dcf5534862p-1, 0x1.ce0a44eb17bccp-2                                                                 \
        }                                                                                                              \
    }
/* log2(1 + r) = ((a0 r + a1) r^2 + (a2 r + a3)) r^2 + a4 r, relative error below 2^-32. */
#define TXM_POW_LOG2_POLYNOMIAL                                                                                        \
    {                                                                                                                  \
        0x1.27616c9496e0bp-2, -0x1.71969a075c67ap-2, 0x1.ec70a6ca7baddp-2, -0x1.7154748bef6c8p-1, 0x1.71547652ab82bp0  \
    }
/* The bits of 2^(i/32), minus those that adding i << 47 contributes. */
#define TXM_POW_EXP2_TABLE                                                                                             \
    {                                                                                                                  \
        0x3FF0000000000000, 0x3FEFD9B0D3158574, 0x3FEFB5586CF9890F, 0x3FEF9301D0125B51, 0x3FEF72B83C7D517B,            \
            0x3FEF54873168B9AA, 0x3FEF387A6E756238, 0x3FEF1E9DF51FDEE1, 0x3FEF06FE0A31B715, 0x3FEEF1A7373AA9CB,        \
            0x3FEEDEA64C123422, 0x3FEECE086061892D, 0x3FEEBFDAD5362A27, 0x3FEEB42B569D4F82, 0x3FEEAB07DD485429,        \
            0x3FEEA47EB03A5585, 0x3FEEA09E667F3BCD, 0x3FEE9F75E8EC5F74, 0x3FEEA11473EB0187, 0x3FEEA589994CCE13,        \
            0x3FEEACE5422AA0DB, 0x3FEEB737B0CDC5E5, 0x3FEEC49182A3F090, 0x3FEED503B23E255D, 0x3FEEE89F995AD3AD,        \
            0x3FEEFF76F2FB5E47, 0x3FEF199BDD85529C, 0x3FEF3720DCEF9069, 0x3FEF5818DCFBA487, 0x3FEF7C97337B9B5F,        \
            0x3FEFA4AFA2A490DA, 0x3FEFD0765B6E4540                                                                     \
    }
/* Adding and subtracting it rounds to a multiple of 1/32. */
#define TXM_POW_EXP2_SHIFT (0x1.8p52 / 32)
/* 2^s = b0 s^3 + b1 s^2 + b2 s + 1 for s within 1/64, relative error below 2^-33. */
#define TXM_POW_EXP2_POLYNOMIAL                                                                                        \
    {                                                                                                                  \
        0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3, 0x1.62e42ff0c52d6p-1                                               \
    }
#endif
